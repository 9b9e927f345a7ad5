#pragma once

#include <string>
#include <vector>

#include "kernel/loop_nest.h"

namespace ingot::kernel {

// The C++ type of elements of a type in expressions, and in memory.
std::string cuda_type(DType dtype);
std::string cuda_memory_type(DType dtype);
// A number of a type as C++ writes it, exactly.
std::string cuda_number(DType dtype, double real, int64_t integer);

// The expression text of a pointwise op. `from` is the type of its first operand.
std::string cuda_op(const Expr& e, DType from, const std::vector<std::string>& args);

// Functions that the texts call.
extern const char* const kCudaPrelude;

}  // namespace ingot::kernel
