#include <cmath>
#include <numeric>

#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/lines.h"
#include "device/cpu/routines/numbers.h"
#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/table.h"

namespace ingot::cpu {
namespace {

size_t axis_of(const RoutineCall& call) {
  return static_cast<size_t>(normal_axis(call.node.as<TopKAttrs>().axis, call.in[0].rank));
}

// Each thread orders the places of one line.
int64_t scratch_bytes(const RoutineCall& call) {
  return call.pool.size() * call.in[0].sizes[axis_of(call)] * static_cast<int64_t>(sizeof(int64_t));
}

int64_t k_of(const RoutineCall& call) {
  const int64_t k = integer_at(call.in[1], 0), length = call.in[0].sizes[axis_of(call)];
  if (k < 0 || k > length)
    refuse(call, fmt::format("a number in [0, {}] of elements", length), fmt::format("{}", k));
  return k;
}

void measure(const RoutineCall& call) {
  const View& x = call.in[0];
  for (View& out : call.out) {
    if (is_absent(out)) continue;
    out.rank = x.rank;
    out.sizes = x.sizes;
    out.sizes[axis_of(call)] = k_of(call);
  }
}

// A total order: NaN is greater than every number and equal to itself; equals keep theirs.
template <class T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(b)) return !std::isnan(a);
    if (std::isnan(a)) return false;
  }
  return a < b;
}

template <class T>
void order_line(const T* x, int64_t step, bool largest, std::span<int64_t> order, int64_t k) {
  std::iota(order.begin(), order.end(), int64_t{0});
  auto at = [&](int64_t p) { return x[p * step]; };
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t p, int64_t q) {
    const T a = at(p), b = at(q);
    const bool first = largest ? before(b, a) : before(a, b), second = largest ? before(a, b) : before(b, a);
    return first || (!second && p < q);
  });
}

// Strides of an output nobody reads are never used.
Strides lines_of(const View& out, size_t axis) {
  return is_absent(out) ? Strides{} : without_axis(out.strides, axis);
}

void top_k(const RoutineCall& call) {
  const View &x = call.in[0], &values = call.out[0], &places = call.out[1];
  const size_t axis = axis_of(call);
  const int64_t length = x.sizes[axis], k = k_of(call);
  for (const View& out : call.out)
    if (!is_absent(out) && out.sizes[axis] != k)
      refuse(call, fmt::format("k of {}, as the node says", out.sizes[axis]), fmt::format("{}", k));
  const bool largest = call.node.as<TopKAttrs>().largest;
  const Lines<3> lines(x, axis,
                       {without_axis(x.strides, axis), lines_of(values, axis), lines_of(places, axis)});
  with_number(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    lines.for_each_group(length, call.pool, [&](const std::array<int64_t, 3>& at, int64_t count, int thread) {
      const std::span order(reinterpret_cast<int64_t*>(call.scratch) + thread * length,
                            static_cast<size_t>(length));
      for (int64_t j = 0; j < count; ++j) {
        const T* from = elements<const T>(x) + at[0] + j * lines.step(0);
        order_line(from, x.strides[axis], largest, order, k);
        for (int64_t r = 0; r < k; ++r) {
          const int64_t place = order[static_cast<size_t>(r)];
          if (!is_absent(values))
            elements<T>(values)[at[1] + j * lines.step(1) + r * values.strides[axis]] =
                from[place * x.strides[axis]];
          if (!is_absent(places))
            elements<int64_t>(places)[at[2] + j * lines.step(2) + r * places.strides[axis]] = place;
        }
      }
    });
  });
}

bool supports(const RoutineCall& call) {
  return moves_cells(call) && is_number(call.in[0].dtype) && call.in[0].rank > 0;
}

}  // namespace

void add_top_k_routines(RoutineTable& t) {
  t[Op::TopK] = {.supports = supports, .scratch_bytes = scratch_bytes, .measure = measure, .run = top_k};
}

}  // namespace ingot::cpu
