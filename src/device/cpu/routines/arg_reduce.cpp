#include <cmath>

#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/lanes.h"
#include "device/cpu/routines/lines.h"
#include "device/cpu/routines/numbers.h"
#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/table.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kGroup = Lines<1>::kGroup;

struct Order {
  bool largest, last;
};

// Whether b comes before a. NaN comes before everything, as in NumPy.
template <class T>
INGOT_INLINE bool beats(T a, T b, Order order) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && (order.last || !std::isnan(a));
  if (a == b) return order.last;
  return (a < b) == order.largest;
}

// The places of the best elements of `count` lines that lie `line_step` apart.
template <class T>
INGOT_SIMD void best_of_lines(const T* x, int64_t step, int64_t length, int64_t line_step, int64_t count,
                              Order order, int64_t* places) {
  T best[kGroup];
  for (int64_t j = 0; j < count; ++j) best[j] = x[j * line_step], places[j] = 0;
  for (int64_t k = 1; k < length; ++k)
    for (int64_t j = 0; j < count; ++j) {
      const T e = x[k * step + j * line_step];
      if (beats(best[j], e, order)) best[j] = e, places[j] = k;
    }
}

// A long dense line of floats without NaN: the best number first, then where it is. -1: there is a NaN.
INGOT_SIMD int64_t best_of_dense(const float* x, int64_t length, Order order) {
  Lanes best = lanes(x), unordered = {};
  auto take = [&](const Lanes& v) {
    best = order.largest ? (v > best ? v : best) : (v < best ? v : best);
    unordered = v == v ? unordered : v;
  };
  for (int64_t i = 0; i + kLanes <= length; i += kLanes) take(lanes(x + i));
  take(lanes(x + length - kLanes));
  float found = best[0];
  for (int64_t i = 0; i < kLanes; ++i) {
    if (std::isnan(unordered[i])) return -1;
    if (order.largest ? best[i] > found : best[i] < found) found = best[i];
  }
  if (order.last) {
    for (int64_t i = length - 1;; --i)
      if (x[i] == found) return i;
  }
  for (int64_t i = 0;; ++i)
    if (x[i] == found) return i;
}

template <class T>
void best_of_group(const T* x, int64_t step, int64_t length, int64_t line_step, int64_t count, Order order,
                   int64_t* places) {
  if constexpr (std::is_same_v<T, float>)
    if (count == 1 && step == 1 && length >= kLanes)
      if ((places[0] = best_of_dense(x, length, order)) >= 0) return;
  best_of_lines(x, step, length, line_step, count, order, places);
}

void arg_reduce(const RoutineCall& call, int64_t signed_axis, bool keep_dims, Order order) {
  const View &x = call.in[0], &out = call.out[0];
  const auto axis = static_cast<size_t>(normal_axis(signed_axis, x.rank));
  const int64_t length = x.sizes[axis], step = x.strides[axis];
  const Lines<2> lines(
      x, axis, {without_axis(x.strides, axis), keep_dims ? without_axis(out.strides, axis) : out.strides});
  with_number(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    lines.for_each_group(length, call.pool, [&](const std::array<int64_t, 2>& at, int64_t count, int) {
      int64_t places[kGroup] = {};
      if (length > 0)
        best_of_group(elements<const T>(x) + at[0], step, length, lines.step(0), count, order, places);
      for (int64_t j = 0; j < count; ++j) elements<int64_t>(out)[at[1] + j * lines.step(1)] = places[j];
    });
  });
}

bool supports(const RoutineCall& call) {
  return moves_cells(call) && is_number(call.in[0].dtype) && call.in[0].rank > 0;
}

}  // namespace

void add_arg_reduce_routines(RoutineTable& t) {
  t[Op::ArgMax] = {.supports = supports, .run = [](const RoutineCall& call) {
                     const auto& a = call.node.as<ArgMaxAttrs>();
                     arg_reduce(call, a.axis, a.keep_dims, {true, a.last});
                   }};
  t[Op::ArgMin] = {.supports = supports, .run = [](const RoutineCall& call) {
                     const auto& a = call.node.as<ArgMinAttrs>();
                     arg_reduce(call, a.axis, a.keep_dims, {false, a.last});
                   }};
}

}  // namespace ingot::cpu
