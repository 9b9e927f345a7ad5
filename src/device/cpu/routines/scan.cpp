#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/lines.h"
#include "device/cpu/routines/numbers.h"
#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/simd.h"
#include "device/cpu/routines/table.h"
#include "ir/arithmetic.h"

// Running sums and products, in the wide type, as the reference device computes them.
namespace ingot::cpu {
namespace {

struct Line {
  int64_t length, x_step, out_step, x_line, out_line, count;
  bool exclusive;
};

template <class T, class F>
INGOT_INLINE void scan_lines(const T* x, T* out, const Line& s, Wide<T> empty, F f) {
  Wide<T> sums[Lines<1>::kGroup];
  std::fill_n(sums, s.count, empty);
  for (int64_t k = 0; k < s.length; ++k)
    for (int64_t j = 0; j < s.count; ++j) {
      const Wide<T> next = wrapping(sums[j], static_cast<Wide<T>>(x[k * s.x_step + j * s.x_line]), f);
      out[k * s.out_step + j * s.out_line] = static_cast<T>(s.exclusive ? sums[j] : next);
      sums[j] = next;
    }
}

template <class T>
INGOT_SIMD void sum_lines(const T* x, T* out, const Line& s) {
  scan_lines(x, out, s, 0, std::plus<>());
}
template <class T>
INGOT_SIMD void multiply_lines(const T* x, T* out, const Line& s) {
  scan_lines(x, out, s, 1, std::multiplies<>());
}

int64_t scanned_axis(const RoutineCall& call) {
  const View &x = call.in[0], &axes = call.in[1];
  const int64_t axis = axes.count() == 1 ? integer_at(axes, 0) : x.rank;
  if (axis < -x.rank || axis >= x.rank)
    refuse(call, fmt::format("one axis in [{}, {}]", -x.rank, x.rank - 1),
           fmt::format("{} of {}", axis, axes.count()));
  return normal_axis(axis, x.rank);
}

template <class A>
void scan(const RoutineCall& call, bool multiplies) {
  const auto& a = call.node.as<A>();
  const auto axis = static_cast<size_t>(scanned_axis(call));
  const View &x = call.in[0], &out = call.out[0];
  const int64_t length = x.sizes[axis], last = a.reverse ? length - 1 : 0, way = a.reverse ? -1 : 1;
  const Lines<2> lines(x, axis, {without_axis(x.strides, axis), without_axis(out.strides, axis)});
  with_number(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    lines.for_each_group(length, call.pool, [&](const std::array<int64_t, 2>& at, int64_t count, int) {
      const T* from = elements<const T>(x) + at[0] + last * x.strides[axis];
      T* to = elements<T>(out) + at[1] + last * out.strides[axis];
      const Line line = {length,        way * x.strides[axis], way * out.strides[axis],
                         lines.step(0), lines.step(1),         count,
                         a.exclusive};
      multiplies ? multiply_lines(from, to, line) : sum_lines(from, to, line);
    });
  });
}

bool supports(const RoutineCall& call) {
  return moves_cells(call) && is_number(call.in[0].dtype) && call.in[0].rank > 0;
}

}  // namespace

void add_scan_routines(RoutineTable& t) {
  t[Op::CumSum] = {.supports = supports,
                   .run = [](const RoutineCall& call) { scan<CumSumAttrs>(call, false); }};
  t[Op::CumProd] = {.supports = supports,
                    .run = [](const RoutineCall& call) { scan<CumProdAttrs>(call, true); }};
}

}  // namespace ingot::cpu
