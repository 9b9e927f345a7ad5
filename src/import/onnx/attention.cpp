#include "import/onnx/heads.h"
#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/attention_parts.h"
#include "ir/builder_helpers.h"
#include "ir/inline_graph.h"
#include "ir/small_constants.h"

// Attention and what surrounds it. Models hold heads in an axis of their own or side by side in the last
// axis.
namespace ingot {
namespace {

AttentionScores wanted_scores(const OnnxNodeContext& c) {
  int64_t mode = c.int_attr("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) c.fail_invalid("qk_matmul_output_mode in [0, 3]", fmt::format("{}", mode));
  return static_cast<AttentionScores>(mode);
}

std::vector<Value> attention(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  bool merged = g.rank(c.in(0)) == 3;
  auto heads = [&](size_t i, std::string_view name) {
    return merged ? split_heads(g, c.in(i), heads_attr(c, name)) : c.in(i);
  };
  AttentionAttrs attrs{.scale = c.float_attr("scale", 0),
                       .softcap = c.float_attr("softcap", 0),
                       .causal = c.flag_attr("is_causal", false),
                       .scores = wanted_scores(c)};
  auto [y, key, value, scores] =
      g.attention(heads(0, "q_num_heads"), heads(1, "kv_num_heads"), heads(2, "kv_num_heads"), c.optional(3),
                  c.optional(4), c.optional(5), c.optional(6), attrs);
  return {merged ? merge_heads(g, y) : y, key, value, scores};
}

std::vector<Value> rotary_embedding(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  bool merged = g.rank(c.in(0)) == 3;
  Value x = merged ? split_heads(g, c.in(0), heads_attr(c, "num_heads")) : c.in(0);
  Value y = g.rotary_embedding(x, c.in(1), c.in(2), c.optional(3),
                               {.interleaved = c.flag_attr("interleaved", false)});
  return {merged ? merge_heads(g, y) : y};
}

std::vector<Value> linear_attention(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  int64_t query_heads = heads_attr(c, "q_num_heads"), heads = heads_attr(c, "kv_num_heads");
  Value beta = c.optional(5), decay = c.optional(4);
  if (!decay.is_none()) decay = split_heads(g, decay, heads);
  if (!beta.is_none())
    beta = g.transpose(g.reshape(beta, int_list(g, {0, 0, -1, 1})), {.permutation = {0, 2, 1, 3}});
  LinearAttentionAttrs attrs{
      .update = c.enum_attr<LinearAttentionRule>("update_rule", "gated_delta",
                                                 {{"linear", LinearAttentionRule::linear},
                                                  {"gated", LinearAttentionRule::gated},
                                                  {"delta", LinearAttentionRule::delta},
                                                  {"gated_delta", LinearAttentionRule::gated_delta}}),
      .scale = c.float_attr("scale", 0)};
  auto [y, state] = g.linear_attention(split_heads(g, c.in(0), query_heads), split_heads(g, c.in(1), heads),
                                       split_heads(g, c.in(2), heads), c.optional(3), decay, beta, attrs);
  return {merge_heads(g, y), state};
}

std::vector<Value> causal_conv(OnnxNodeContext& c) {
  bool swish = c.enum_attr<bool>("activation", "none", {{"none", false}, {"silu", true}, {"swish", true}});
  auto [y, state] = c.g().causal_conv(c.in(0), c.in(1), c.optional(2), c.optional(3), {.swish = swish});
  return {y, state};
}

// Runs the graph attribute `name`, if there is one, on the scores.
Value modify(OnnxNodeContext& c, std::string_view name, Value scores) {
  if (!c.has_attr(name)) return scores;
  const OnnxGraph& graph = c.graph_attr(name);
  auto captures = c.captures({&graph});
  std::vector<Value> inputs = {scores};
  for (Value v : c.values_of(captures)) inputs.push_back(v);
  auto results = inline_graph(c.g(), *c.body(graph, {c.g().type(scores)}, captures), inputs);
  if (results.size() != 1)
    c.fail_invalid("one result of " + std::string(name), fmt::format("{}", results.size()));
  return results[0];
}

// Attention with graphs of the model between its stages.
std::vector<Value> flex_attention(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  DType dtype = c.dtype_attr("softmax_precision", c.dtype(0) == DType::f64 ? DType::f64 : DType::f32);
  Value query = cast_to(g, c.in(0), dtype);
  query = g.mul(query, score_scale(g, query, c.float_attr("scale", 0)));
  Value scores = multiply_heads(g, query, cast_to(g, c.in(1), dtype), true);
  Value weights = modify(c, "prob_mod", g.softmax(modify(c, "score_mod", scores)));
  return {cast_to(g, multiply_heads(g, weights, cast_to(g, c.in(2), dtype), false), c.dtype(0))};
}

}  // namespace

Value split_heads(GraphBuilder& g, Value x, int64_t heads) {
  return g.transpose(g.reshape(x, int_list(g, {0, 0, heads, -1})), {.permutation = {0, 2, 1, 3}});
}

Value merge_heads(GraphBuilder& g, Value x) {
  return g.reshape(g.transpose(x, {.permutation = {0, 2, 1, 3}}), int_list(g, {0, 0, -1}));
}

int64_t heads_attr(const OnnxNodeContext& c, std::string_view name) {
  int64_t heads = c.int_attr(name);
  if (heads < 1) c.fail_invalid(fmt::format("{} of at least 1", name), fmt::format("{}", heads));
  return heads;
}

void add_onnx_attention(OnnxOpTable& t) {
  t[{"", "Attention"}] = {.import = attention, .first_opset = 23};
  t[{"", "CausalConvWithState"}] = {.import = causal_conv, .first_opset = 27};
  t[{"", "LinearAttention"}] = {.import = linear_attention, .first_opset = 27};
  t[{"", "RotaryEmbedding"}] = {.import = rotary_embedding, .first_opset = 23};
  t[{"ai.onnx.preview", "FlexAttention"}] = {.import = flex_attention};
}

}  // namespace ingot
