#pragma once

#include <vector>

#include "ingot/graph.h"

// Constants that decompositions and importers need again and again.
namespace ingot {

// A tensor of shape [] with one element, rounded to the type as a cast rounds it.
Tensor scalar(DType dtype, double value);
Value scalar(GraphBuilder& g, DType dtype, double value);
// Of the element type of `like`.
Value scalar_like(GraphBuilder& g, Value like, double value);

// i64[n].
Value int_list(GraphBuilder& g, const std::vector<int64_t>& values);

}  // namespace ingot
