#pragma once

#include "ingot/graph.h"

// Pieces that decompositions and importers share.
namespace ingot {

// A cast, or the value itself where it has the type already.
Value convert(GraphBuilder& g, Value x, DType dtype);

// x as f64 if it or `with` is that, else as f32: narrow types lose too much in intermediate results.
Value widen(GraphBuilder& g, Value x, DType with = DType::f32);

}  // namespace ingot
