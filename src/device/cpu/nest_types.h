#pragma once

#include <optional>

#include "ingot/graph.h"
#include "kernel/loop_nest.h"

namespace ingot::cpu {

// The type that a nest computes in for elements of `dtype`: f32 for f16 and bf16; empty where nests do not
// know it.
std::optional<DType> compute_type(DType dtype);

// Whether nests know the op of a node and the types of its operands and result.
bool in_nests(const Graph& graph, const Node& node);

// The expression for a pointwise node; args are filled in by the caller.
kernel::Expr pointwise_expr(const Node& node);

}  // namespace ingot::cpu
