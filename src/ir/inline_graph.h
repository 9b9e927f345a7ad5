#pragma once

#include <span>
#include <vector>

#include "ingot/graph.h"

namespace ingot {

// Adds the nodes of `graph` to `g` with `inputs` in place of its inputs, and returns the values of its
// outputs. Types are inferred anew, so the inputs may have other sizes than the graph declares.
std::vector<Value> inline_graph(GraphBuilder& g, const Graph& graph, std::span<const Value> inputs);

}  // namespace ingot
