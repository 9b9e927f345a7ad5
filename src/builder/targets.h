#pragma once

#include <string>
#include <vector>

#include "ingot/graph.h"

namespace ingot {

// Throws Error(invalid_argument) for a name that is not known or comes twice, or for none.
void check_targets(const std::vector<std::string>& targets);

// Throws Error(unsupported) where the graph has a type that one of the targets cannot compute with.
void check_types(const Graph& graph, const std::vector<std::string>& targets);

}  // namespace ingot
