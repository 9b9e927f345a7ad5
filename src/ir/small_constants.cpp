#include "ir/small_constants.h"

#include "ir/numeric.h"

namespace ingot {

Tensor scalar(DType dtype, double value) {
  Tensor t = Tensor::allocate(dtype, {});
  encode_from_f64(dtype, &value, 1, t.mutable_bytes().data());
  return t;
}

Value scalar(GraphBuilder& g, DType dtype, double value) { return g.constant(scalar(dtype, value)); }

Value scalar_like(GraphBuilder& g, Value like, double value) { return scalar(g, g.dtype(like), value); }

Value int_list(GraphBuilder& g, const std::vector<int64_t>& values) {
  return g.constant(Tensor::of({static_cast<int64_t>(values.size())}, values));
}

}  // namespace ingot
