#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"

namespace ingot {
namespace {

// Each key head serves a run of query heads: x [batch, heads, ...] becomes [batch, key heads, group, ...].
Value grouped(GraphBuilder& g, Value x, Value key) {
  Value shape = join(g, {int_list(g, {0}), size_of(g, key, 1), int_list(g, {-1}), sizes_of(g, x, 2, 4)});
  return g.reshape(x, shape);
}

Value ungrouped(GraphBuilder& g, Value x, Value query) {
  return g.reshape(x, join(g, {sizes_of(g, query, 0, 2), sizes_of(g, x, 3, 5)}));
}

Value scale(OnnxNodeContext& c, DType dtype) {
  GraphBuilder& g = c.g();
  if (c.has_attr("scale")) return scalar(g, dtype, c.float_attr("scale"));
  Value head_size = as_scalar(g, size_of(g, c.in(0), 3));
  return g.reciprocal(g.sqrt(g.cast(head_size, {.to = dtype})));
}

Value modified(OnnxNodeContext& c, std::string_view attribute, Value x) {
  if (!c.has_attr(attribute)) return x;
  auto results = c.inlined(c.graph_attr(attribute), {x});
  if (results.size() != 1)
    c.fail_invalid(fmt::format("one output of {}", attribute), fmt::format("{}", results.size()));
  return results[0];
}

std::vector<Value> flex_attention(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value query = c.in(0), key = c.in(1), value = c.in(2);
  for (size_t i = 0; i < 3; ++i)
    if (!g.is_ranked(c.in(i)) || g.rank(c.in(i)) != 4)
      c.fail_invalid("inputs of rank 4", to_string(c.type(i)));
  DType precision = c.dtype_attr("softmax_precision", c.dtype(0) == DType::f64 ? DType::f64 : DType::f32);
  Value key_axis = int_list(g, {2});
  Value turned = g.transpose(g.unsqueeze(key, key_axis), {.permutation = {0, 1, 2, 4, 3}});
  Value scores = ungrouped(g, g.matmul(grouped(g, query, key), turned), query);
  scores = g.mul(cast_to(g, scores, precision), scale(c, precision));
  scores = modified(c, "score_mod", scores);
  Value weights = modified(c, "prob_mod", g.softmax(scores, {.axis = -1}));
  weights = cast_to(g, weights, c.dtype(2));
  return {ungrouped(g, g.matmul(grouped(g, weights, key), g.unsqueeze(value, key_axis)), query)};
}

}  // namespace

void add_onnx_flex_attention(OnnxOpTable& t) {
  t[{"ai.onnx.preview", "FlexAttention"}] = {.import = flex_attention};
}

}  // namespace ingot
