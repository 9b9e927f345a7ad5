#include "ir/builder_helpers.h"

namespace ingot {

Value zero(GraphBuilder& g, DType dtype) {
  return g.constant(dtype == DType::string ? Tensor::of_strings({}, {""}) : Tensor::allocate(dtype, {}));
}

Value cast_to(GraphBuilder& g, Value x, DType dtype) {
  return g.dtype(x) == dtype ? x : g.cast(x, {.to = dtype});
}

Value widen(GraphBuilder& g, Value x, DType with) {
  return cast_to(g, x, g.dtype(x) == DType::f64 || with == DType::f64 ? DType::f64 : DType::f32);
}

Value size_of(GraphBuilder& g, Value x, int64_t axis) {
  if (axis < 0) axis += g.rank(x);
  return sizes_of(g, x, axis, axis + 1);
}

Value sizes_of(GraphBuilder& g, Value x, int64_t start, int64_t end) {
  return g.shape_of(x, {.start = start, .end = end});
}

Value element_count_of(GraphBuilder& g, Value x) {
  return g.reduce_prod(g.shape_of(x), {}, {.keep_dims = false});
}

Value as_scalar(GraphBuilder& g, Value x) {
  return g.is_ranked(x) && g.rank(x) == 0 ? x : g.reshape(x, int_list(g, {}));
}

Value as_matrix(GraphBuilder& g, Value x, int64_t axis) {
  // Both sizes are products, since -1 cannot stand beside a 0.
  Value rows = g.reduce_prod(sizes_of(g, x, 0, axis), {});
  Value columns = g.reduce_prod(sizes_of(g, x, axis, INT64_MAX), {});
  return g.reshape(x, join(g, {rows, columns}), {.zero_is_zero = true});
}

Value join(GraphBuilder& g, const std::vector<Value>& parts) {
  std::vector<Value> vectors;
  for (Value v : parts) vectors.push_back(g.rank(v) == 0 ? g.unsqueeze(v, int_list(g, {0})) : v);
  return vectors.size() == 1 ? vectors[0] : g.concat(vectors, {.axis = 0});
}

}  // namespace ingot
