#pragma once

#include "passes/rewrite.h"

// The groups of rules that canonicalise.cpp chooses from by op. Each returns what stands for the node, or
// nothing.
namespace ingot {

using Rewritten = std::optional<std::vector<Value>>;
using Operands = std::span<const Value>;

inline Rewritten same(Value v) { return std::vector<Value>{v}; }

// Whether both are tensors of one element type and of sizes that are proven equal.
bool same_type(const GraphBuilder& g, Value a, Value b);

// Reshapes, squeezes, transposes, slices, pads and the like.
Rewritten canonicalise_movement(Rewriter& r, const Node& node, Operands in);

}  // namespace ingot
