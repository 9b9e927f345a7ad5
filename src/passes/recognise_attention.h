#pragma once

#include "ingot/graph.h"

namespace ingot {

// softmax(scale * q k^T + mask) v becomes attention, whether the scale stands at q, at k, at both or at the
// scores, with or without a cap through tanh and a mask of numbers, or of truths with minus infinity where it
// is false, and with the guard against NaN of PyTorch's exporter, which then guards the result. Heads of keys
// and values that serve several of the query, and rows appended to a cache that nothing else reads as a
// whole, are taken from where they came. Shapes must be proven to need no broadcasting but of the mask. Heads
// may be an axis of their own or part of the batch. The order of roundings changes. Run after
// recognise_softmax and canonicalise; canonicalise after, since keys get transposed.
Graph recognise_attention(const Graph& graph);

}  // namespace ingot
