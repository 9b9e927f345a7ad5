#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/numbers.h"
#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/table.h"
#include "device/cpu/routines/walk.h"
#include "ir/arithmetic.h"

// Ops that make lists as long as their data says.
namespace ingot::cpu {
namespace {

constexpr int64_t kChunk = 16 << 10;  // elements

int64_t chunks_of(const View& x) { return (x.count() + kChunk - 1) / kChunk; }

void require_count(const RoutineCall& call, int64_t room, int64_t count) {
  if (room != count)
    refuse(call, fmt::format("{} elements, as the node says", room), fmt::format("{}", count));
}

// Zero has two signs where the top bit is one; NaN is not zero.
uint64_t value_bits(DType dtype) {
  const uint64_t all = ~uint64_t{0} >> (64 - bit_width(dtype));
  return is_floating(dtype) ? all >> 1 : all;
}

// Calls f(position) for the elements [begin, end) in row-major order that are not zero.
template <class T, class F>
void each_non_zero(const View& x, int64_t begin, int64_t end, F f) {
  const auto mask = static_cast<T>(value_bits(x.dtype));
  StridedWalk<1> walk(x.rank, x.sizes, {x.strides}, begin);
  for (int64_t i = begin; i < end; ++i, walk.next())
    if ((elements<const T>(x)[walk.at[0]] & mask) != 0) f(walk);
}

// Counts per chunk, then where each chunk begins to write.
int64_t count_non_zero(const RoutineCall& call) {
  const View& x = call.in[0];
  auto* starts = reinterpret_cast<int64_t*>(call.scratch);
  with_cell(x.dtype, [&](auto zero) {
    call.pool.parallel_for(x.count(), kChunk, [&](int64_t begin, int64_t end, int) {
      int64_t found = 0;
      each_non_zero<decltype(zero)>(x, begin, end, [&](const StridedWalk<1>&) { ++found; });
      starts[begin / kChunk] = found;
    });
  });
  int64_t total = 0;
  for (int64_t c = 0; c < chunks_of(x); ++c) total += std::exchange(starts[c], total);
  return total;
}

void measure_non_zero(const RoutineCall& call) {
  call.out[0].rank = 2;
  call.out[0].sizes = {call.in[0].rank, count_non_zero(call)};
}

void non_zero(const RoutineCall& call) {
  const View &x = call.in[0], &out = call.out[0];
  require_count(call, out.sizes[1], count_non_zero(call));
  const auto* starts = reinterpret_cast<const int64_t*>(call.scratch);
  with_cell(x.dtype, [&](auto zero) {
    call.pool.parallel_for(x.count(), kChunk, [&](int64_t begin, int64_t end, int) {
      int64_t* to = elements<int64_t>(out) + starts[begin / kChunk] * out.strides[1];
      each_non_zero<decltype(zero)>(x, begin, end, [&](const StridedWalk<1>& at) {
        for (int64_t axis = 0; axis < x.rank; ++axis)
          to[axis * out.strides[0]] = at.position(static_cast<size_t>(axis));
        to += out.strides[1];
      });
    });
  });
}

// Floats of 8 bits have zeros of their own kinds.
bool has_plain_zero(const RoutineCall& call) {
  const DType dtype = call.in[0].dtype;
  return moves_cells(call) && (!is_floating(dtype) || bit_width(dtype) >= 16);
}

template <class W>
W wide_at(const View& view) {
  W value;
  if constexpr (std::is_same_v<W, double>)
    value = real_at(view, 0);
  else
    value = static_cast<W>(integer_at(view, 0));
  return value;
}

int64_t count_of_range(const RoutineCall& call) {
  return with_wide(call.in[0].dtype, [&](auto zero) {
    using W = decltype(zero);
    const W step = wide_at<W>(call.in[2]);
    if (step == 0) refuse(call, "a step other than 0", "0");
    const int64_t count = range_count(wide_at<W>(call.in[0]), wide_at<W>(call.in[1]), step);
    if (count < 0) refuse(call, "finite numbers", "a range without end");
    return count;
  });
}

void measure_range(const RoutineCall& call) {
  call.out[0].rank = 1;
  call.out[0].sizes[0] = count_of_range(call);
}

void range(const RoutineCall& call) {
  const View& out = call.out[0];
  require_count(call, out.sizes[0], count_of_range(call));
  with_number(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto start = wide_at<Wide<T>>(call.in[0]), step = wide_at<Wide<T>>(call.in[2]);
    for (int64_t i = 0; i < out.sizes[0]; ++i)
      elements<T>(out)[i * out.strides[0]] = static_cast<T>(start + static_cast<Wide<T>>(i) * step);
  });
}

}  // namespace

void add_list_routines(RoutineTable& t) {
  t[Op::NonZero] = {.supports = has_plain_zero,
                    .scratch_bytes =
                        [](const RoutineCall& call) {
                          return chunks_of(call.in[0]) * static_cast<int64_t>(sizeof(int64_t));
                        },
                    .measure = measure_non_zero,
                    .run = non_zero};
  t[Op::Range] = {
      .supports = [](const RoutineCall& call) { return moves_cells(call) && is_number(call.in[0].dtype); },
      .measure = measure_range,
      .run = range};
}

}  // namespace ingot::cpu
