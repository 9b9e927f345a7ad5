#pragma once

#include <cstdint>
#include <vector>

#include "ingot/graph.h"
#include "ir/small_constants.h"

// Small pieces of graph that decompositions and importers are made of.
namespace ingot {

// An element type's zero (an empty string for strings), as a scalar.
Value zero(GraphBuilder& g, DType dtype);

// x itself where it has that type already.
Value cast_to(GraphBuilder& g, Value x, DType dtype);
// x as f64 if it or `with` is that, else as f32: narrow types lose too much in intermediate results.
Value widen(GraphBuilder& g, Value x, DType with = DType::f32);
// The size along one axis, which may count from the end, as a vector of one i64. A negative one needs a known
// rank.
Value size_of(GraphBuilder& g, Value x, int64_t axis);
// Sizes [start, end) as a vector.
Value sizes_of(GraphBuilder& g, Value x, int64_t start, int64_t end);
// The number of elements, a scalar i64.
Value element_count_of(GraphBuilder& g, Value x);
// One number as a scalar, whatever shape it has.
Value as_scalar(GraphBuilder& g, Value x);
// A matrix whose rows are the axes before `axis`, and whose columns are the others.
Value as_matrix(GraphBuilder& g, Value x, int64_t axis);
// One vector of any number of scalars and vectors.
Value join(GraphBuilder& g, const std::vector<Value>& parts);

}  // namespace ingot
