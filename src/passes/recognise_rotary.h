#pragma once

#include "ingot/graph.h"

namespace ingot {

// x * cos + rotate_half(x) * sin, with rotate_half(x) = concat(-x2, x1) of the two halves of each head,
// becomes rotary_embedding. x is [batch, heads, tokens, size]; cos and sin must be the same for every head
// and hold the same angles in both halves, as concat(a, a) or in a constant. Run after canonicalise and
// merge_duplicates.
Graph recognise_rotary(const Graph& graph);

}  // namespace ingot
