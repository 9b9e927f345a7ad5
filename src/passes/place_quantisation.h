#pragma once

#include "ingot/graph.h"

namespace ingot {

// Moves quantize and dequantize so that whole numbers flow as far as possible: a dequantize with one scale
// sinks below ops that only move elements and below max_pool, a quantize rises above them, and quantize of
// what was dequantized with the same scale and zero point goes. Each contraction then gets a dequantize of
// its own, so that it can be compiled as one with it; hence merge_duplicates must not run after. No result
// changes by a bit.
Graph place_quantisation(const Graph& graph);

}  // namespace ingot
