#pragma once

#include <cstring>

#include "device/cpu/routine.h"

// Reading operands that steer an op.
namespace ingot::cpu {

inline bool has(const RoutineCall& call, size_t operand) {
  return operand < call.in.size() && !is_absent(call.in[operand]);
}

inline int64_t normal_axis(int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

[[noreturn]] void refuse(const RoutineCall& call, std::string expected, std::string observed);

// Element `i` of a list or scalar of numbers, as an integer or a double.
int64_t integer_at(const View& view, int64_t i);
double real_at(const View& view, int64_t i);

// Whether operands and outputs all have cells (whole bytes) and ranks that a view holds.
bool moves_cells(const RoutineCall& call);

// The part of a view from `begin` on along one axis, `length` positions a `step` apart.
View part(View view, size_t axis, int64_t begin, int64_t length, int64_t step = 1);

// The axes of a view, those that take the longest steps first, and a view with its axes in an order.
using AxisOrder = std::array<size_t, kMaxRank>;
AxisOrder order_of_strides(const View& view);
View permuted(const View& view, const AxisOrder& order);

}  // namespace ingot::cpu
