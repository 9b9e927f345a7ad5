#pragma once

#include "ingot/graph.h"

namespace ingot {

// x/2 * (1 + erf(x / sqrt 2)) and x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) become gelu. Factors may
// come in any order and association, so results may differ by the rounding of products. Run after
// canonicalise and merge_duplicates.
Graph recognise_gelu(const Graph& graph);

}  // namespace ingot
