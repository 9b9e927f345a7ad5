#pragma once

#include "ingot/graph.h"

namespace ingot {

// Drops nodes that no output needs. Inputs stay, since they are the contract with the caller.
Graph remove_dead_code(const Graph& graph);

}  // namespace ingot
