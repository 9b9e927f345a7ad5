#include "ir/attention_parts.h"

#include <cmath>

#include "ir/builder_helpers.h"
#include "ir/small_constants.h"

namespace ingot {

Value group_heads(GraphBuilder& g, Value query, Value keys) {
  Value shape = g.concat(
      {size_of(g, keys, 0), size_of(g, keys, 1), int_list(g, {-1}), g.shape_of(query, {.start = 2})});
  return g.reshape(query, shape, {.zero_is_zero = true});
}

Value multiply_heads(GraphBuilder& g, Value a, Value b, bool transpose) {
  if (transpose) b = g.transpose(b, {.permutation = {0, 1, 3, 2}});
  if (g.dims(a)[1] == g.dims(b)[1]) return g.matmul(a, b);
  Value product = g.matmul(group_heads(g, a, b), g.unsqueeze(b, int_list(g, {2})));
  return g.reshape(product, g.concat({g.shape_of(a, {.start = 0, .end = 3}), size_of(g, b, 3)}),
                   {.zero_is_zero = true});
}

Value score_scale(GraphBuilder& g, Value query, double scale) {
  if (scale != 0) return scalar_like(g, query, scale);
  const Dim& size = g.dims(query)[3];
  if (size.is_constant()) return scalar_like(g, query, 1 / std::sqrt(static_cast<double>(size.constant())));
  return g.reciprocal(g.sqrt(g.cast(size_of(g, query, 3), {.to = g.dtype(query)})));
}

}  // namespace ingot
