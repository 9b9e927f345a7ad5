#pragma once

#include "ingot/graph.h"

// Pieces of attention that several decompositions and importers use.
namespace ingot {

// Query heads [B, Hq, T, D] as [B, H, Hq / H, T, D], beside `keys` [B, H, ...].
Value group_heads(GraphBuilder& g, Value query, Value keys);

// a b, or a b^T for `transpose`, one product per head [B, heads, rows, columns]. Each head of b serves as
// many neighbouring heads of a as there are.
Value multiply_heads(GraphBuilder& g, Value a, Value b, bool transpose);

// What scores are multiplied by: 1 / sqrt(size of a head) where `scale` is 0.
Value score_scale(GraphBuilder& g, Value query, double scale);

}  // namespace ingot
