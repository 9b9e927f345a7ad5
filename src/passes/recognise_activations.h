#pragma once

#include "ingot/graph.h"

namespace ingot {

// Pointwise expressions become the activation they spell: clamp (max and min with numbers), swish
// (x * sigmoid(a x)), hard_sigmoid and hard_swish (with clamp(x + 3, 0, 6) / 6), mish. Factors may come in
// any order, so results may differ by the rounding of a product. Run after canonicalise and merge_duplicates.
Graph recognise_activations(const Graph& graph);

}  // namespace ingot
