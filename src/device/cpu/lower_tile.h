#pragma once

#include "ingot/graph.h"

namespace ingot::cpu {

// Whether the tile that computes `anchor` can compute these nodes after it.
bool accepts_epilogue(const Graph& graph, const Node& anchor, const std::vector<int32_t>& nodes);

}  // namespace ingot::cpu
