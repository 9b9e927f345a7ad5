#pragma once

#include <map>
#include <string>
#include <vector>

#include "ingot/graph.h"
#include "ingot/profile.h"

namespace ingot {

// Gives dimensions of inputs the names of BuilderConfig::dimension_names; where two get one name, they become
// one size. Throws Error(invalid_argument).
Graph name_dimensions(const Graph& graph, const std::map<std::string, std::vector<std::string>>& names);

// Narrows the range of each symbol that all profiles mention to what one of them at least allows. Throws
// Error(invalid_argument) for a profile that does not fit the graph, and for names that are not unique.
Graph apply_profiles(const Graph& graph, const std::vector<Profile>& profiles);

}  // namespace ingot
