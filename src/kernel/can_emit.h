#pragma once

#include "kernel/loop_nest.h"

namespace ingot::kernel {

// Whether kernels can compute an op, given the types in memory of its first numeric operand and of its
// result. What they cannot runs on reference kernels: the functions of analysis on f64, float remainders,
// integer powers.
bool can_emit(Op op, DType operand, DType result);

}  // namespace ingot::kernel
