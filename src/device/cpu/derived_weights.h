#pragma once

#include <functional>
#include <string>

#include "ingot/graph.h"

// Weights that a graph computes from constants, and nothing reads but a product: dequantised ones, for
// instance. They are packed straight from those constants and never kept as they are.
namespace ingot::cpu {

// Whether the second operand of a node is one: a matrix of f32 for a matmul.
bool has_derived_weights(const Graph& graph, const Node& node);

// The same text for the same weights; `name_of` names a constant.
std::string derived_name(const Graph& graph, Value weights, const std::function<std::string(Value)>& name_of);

Tensor derive_weights(const Graph& graph, Value weights);

}  // namespace ingot::cpu
