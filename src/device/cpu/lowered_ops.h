#pragma once

#include "ingot/graph.h"

namespace ingot::cpu {

// Whether the device computes a composite node whole, as one step or within a fused kernel.
bool lowers_whole(const Graph& graph, const Node& node);

// Whether it decomposes a composite node whatever the sizes are.
bool is_never_whole(const Node& node);

}  // namespace ingot::cpu
