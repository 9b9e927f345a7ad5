#pragma once

#include <map>
#include <string>

#include "ingot/graph.h"
#include "ingot/profile.h"

namespace ingot {

using SymbolRanges = std::map<std::string, DimRange, std::less<>>;

// The range that a profile gives each symbol it mentions. Throws Error(invalid_argument) that names profile,
// input and dimension: an unknown one, a wrong rank, not min <= opt <= max, a fixed size changed, a range
// outside the graph's, or two ranges for one symbol.
SymbolRanges resolve_profile(const Graph& graph, const Profile& profile);

}  // namespace ingot
