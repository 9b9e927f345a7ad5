#pragma once

#include "ingot/graph.h"

namespace ingot {

// (x - mean) / sqrt(variance + epsilon) over the last axes becomes layer_norm, and x / sqrt(mean of squares +
// epsilon) rms_norm, as PyTorch (pow, div), TensorFlow (reciprocal, also with scale and shift folded in) and
// ONNX functions write them. A product and a sum that follow become scale and bias, and casts to f32 and back
// around a norm its way to compute. Sums may be taken in another order. Run after canonicalise and
// merge_duplicates.
Graph recognise_norms(const Graph& graph);

}  // namespace ingot
