#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ingot/graph.h"

namespace ingot {

// New content for a constant, of the same type; nothing keeps the old. `node` is its index in the main graph,
// -1 for one in a body.
using ConstantSource = std::function<std::optional<Tensor>(int32_t node, const Tensor& old)>;

// The same graph with other constants. Nodes keep their indices, types and origins. Throws
// Error(invalid_argument) where a type no longer follows.
Graph replace_constants(const Graph& graph, const ConstantSource& source);

}  // namespace ingot
