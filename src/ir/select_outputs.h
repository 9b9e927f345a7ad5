#pragma once

#include <span>

#include "ingot/graph.h"

namespace ingot {

// The graph with these of its outputs, by index, the nodes that they need, and these notes. All inputs stay.
Graph select_outputs(const Graph& graph, std::span<const size_t> outputs,
                     const std::map<std::string, std::string>& metadata);

}  // namespace ingot
