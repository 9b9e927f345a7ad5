#pragma once

#include "ir/decompose.h"

// The decompositions named in the table of decompose.cpp, defined in decompose_<group>.cpp.
namespace ingot {

#define DECOMPOSITION(name) \
  std::vector<Value> name(GraphBuilder& g, const Node& node, std::span<const Value> operands);
DECOMPOSITION(decompose_gemm)
#undef DECOMPOSITION

}  // namespace ingot
