#pragma once

#include "ingot/graph.h"

namespace ingot {

// Replaces nodes whose operands are all constants, and integer values that shape arithmetic knows, by
// constants. Results above 1 MiB are folded only where they are no larger than their operands and at most 16
// MiB, so that a small constant spread over a large shape does not swell the engine. Random ops and loops
// stay; of a branch whose condition is constant the one that is taken.
Graph fold_constants(const Graph& graph);

}  // namespace ingot
