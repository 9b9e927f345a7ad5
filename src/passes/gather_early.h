#pragma once

#include "ingot/graph.h"

namespace ingot {

// Takes rows of a table before it is computed: gather(cast(table) * scales, i) becomes
// cast(gather(table, i)) * gather(scales, i), where the table is a constant too large to be folded.
Graph gather_early(const Graph& graph);

}  // namespace ingot
