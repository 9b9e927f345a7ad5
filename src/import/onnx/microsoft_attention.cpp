#include "import/onnx/heads.h"
#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"
#include "ir/small_constants.h"

// The attention operators of the com.microsoft domain. All end in one attention node whose operands have
// heads as an axis of their own.
namespace ingot {
namespace {

Value first(GraphBuilder& g, Value x, int64_t index, int64_t axis) {
  return g.gather(x, scalar(g, DType::i64, static_cast<double>(index)), {.axis = axis});
}

// What an integer mask of ones and zeros adds to the scores: `filter` where it is zero.
Value mask_as_bias(GraphBuilder& g, Value mask, DType dtype, double filter) {
  Value closed = g.equal(mask, scalar_like(g, mask, 0));
  return g.select(closed, scalar(g, dtype, filter), scalar(g, dtype, 0));
}

Value add_optional(GraphBuilder& g, Value a, Value b) {
  if (a.is_none() || b.is_none()) return a.is_none() ? b : a;
  return g.add(a, b);
}

struct Mask {
  Value bias;     // added to the scores
  Value lengths;  // real keys of each sample
};

// `operand`: lengths [B], or ones and zeros [B, T] or [B, S, T].
Mask read_mask(OnnxNodeContext& c, size_t operand, DType dtype) {
  Mask mask;
  if (!c.has(operand)) return mask;
  GraphBuilder& g = c.g();
  double filter = c.float_attr("mask_filter_value", -10000);
  Value m = c.in(operand);
  if (g.rank(c.in(0)) < 1) c.fail_invalid("a batch of sequences", to_string(c.type(0)));
  switch (g.rank(m)) {
    case 1: {
      const Dim &samples = g.dims(c.in(0))[0], &given = g.dims(m)[0];
      if (samples.is_constant() && given.is_constant() && samples != given)
        c.fail_unsupported("a mask of one length a sample", to_string(g.dims(m)));
      mask.lengths = m;
      break;
    }
    case 2: mask.bias = mask_as_bias(g, g.unsqueeze(m, int_list(g, {1, 2})), dtype, filter); break;
    case 3: mask.bias = mask_as_bias(g, g.unsqueeze(m, int_list(g, {1})), dtype, filter); break;
    default: c.fail_unsupported("a mask of rank 1 to 3", to_string(g.dims(m)));
  }
  return mask;
}

// Columns of the projections of query, key and value.
std::vector<int64_t> projection_sizes(OnnxNodeContext& c) {
  auto sizes = c.ints_attr("qkv_hidden_sizes");
  if (sizes.size() == 3) return sizes;
  if (c.g().rank(c.in(1)) != 2) c.fail_invalid("weights of rank 2", to_string(c.type(1)));
  const Dim& columns = c.g().dims(c.in(1)).back();
  if (!columns.is_constant()) c.fail_unsupported("weights of a known size", to_string(c.type(1)));
  return std::vector<int64_t>(3, columns.constant() / 3);
}

// Input [B, S, I], weights [I, Q + K + V], bias, mask, past [2, B, heads, P, size], bias of the scores.
std::vector<Value> attention(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  if (c.flag_attr("do_rotary", false) || c.flag_attr("past_present_share_buffer", false))
    c.fail_unsupported("attention without rotary embedding and shared caches", "one of them");
  int64_t heads = heads_attr(c, "num_heads");
  Value projected = g.matmul(c.in(0), c.in(1));
  if (c.has(2)) projected = g.add(projected, c.in(2));
  auto parts = g.split(projected, int_list(g, projection_sizes(c)), 3, {.axis = 2});
  Value past_key, past_value;
  if (c.has(4)) {
    past_key = first(g, c.in(4), 0, 0);
    past_value = first(g, c.in(4), 1, 0);
  }
  Mask mask = read_mask(c, 3, g.dtype(projected));
  auto [y, key, value, scores] = g.attention(
      split_heads(g, parts[0], heads), split_heads(g, parts[1], heads), split_heads(g, parts[2], heads),
      add_optional(g, mask.bias, c.optional(5)), past_key, past_value, mask.lengths,
      {.scale = c.float_attr("scale", 0), .causal = c.flag_attr("unidirectional", false)});
  if (!c.wants(1)) return {merge_heads(g, y)};
  Value lead = int_list(g, {0});
  return {merge_heads(g, y), g.concat({g.unsqueeze(key, lead), g.unsqueeze(value, lead)})};
}

struct Heads {
  Value query, key, value;  // [batch, heads, tokens, size]
};

// Query, key and value side by side, or together in one input with an axis that tells them apart.
Heads read_heads(OnnxNodeContext& c, int64_t heads) {
  GraphBuilder& g = c.g();
  auto part = [&](Value packed, int64_t index) {
    return g.transpose(first(g, packed, index, 3), {.permutation = {0, 2, 1, 3}});
  };
  Value query = c.in(0);
  if (g.rank(query) == 5) return {part(query, 0), part(query, 1), part(query, 2)};
  Value bias = c.optional(3);
  std::vector<Value> biases(3);
  if (!bias.is_none()) {
    if (c.has(1) && g.rank(c.in(1)) != 3)
      c.fail_unsupported("no bias beside packed or split heads", "a bias");
    auto width = [&](Value v) { return g.shape_of(v, {.start = 2}); };
    Value value = c.has(2) ? c.in(2) : c.in(1);
    biases = g.split(bias, g.concat({width(query), width(c.in(1)), width(value)}), 3);
  }
  auto split = [&](Value x, Value b) {
    return g.rank(x) == 4 ? x : split_heads(g, b.is_none() ? x : g.add(x, b), heads);
  };
  Value q = split(query, biases[0]);
  if (g.rank(c.in(1)) == 5) return {q, part(c.in(1), 0), part(c.in(1), 1)};
  return {q, split(c.in(1), biases[1]), split(c.in(2), biases[2])};
}

// Query, key, value, bias, key padding mask, bias of the scores, past key and value.
std::vector<Value> multi_head_attention(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  if (c.has(8) || c.has(9)) c.fail_unsupported("no shared caches", "a past length or cache indirection");
  Heads h = read_heads(c, heads_attr(c, "num_heads"));
  Mask mask = read_mask(c, 4, g.dtype(h.query));
  auto [y, key, value, scores] = g.attention(
      h.query, h.key, h.value, add_optional(g, mask.bias, c.optional(5)), c.optional(6), c.optional(7),
      mask.lengths, {.scale = c.float_attr("scale", 0), .causal = c.flag_attr("unidirectional", false)});
  return {merge_heads(g, y), key, value, scores};
}

// i64[1, S]: positions after those in the cache.
Value positions_after(GraphBuilder& g, Value past, Value query) {
  Value begin = past.is_none() ? int_list(g, {0}) : g.shape_of(past, {.start = 2, .end = 3});
  Value end = g.add(begin, g.shape_of(query, {.start = 2, .end = 3})), number = int_list(g, {});
  Value range = g.range(g.reshape(begin, number), g.reshape(end, number), scalar(g, DType::i64, 1));
  return g.unsqueeze(range, int_list(g, {0}));
}

// Query, key, value (or all in the query), past key and value, keys less one of each sample, total length,
// cosines, sines.
std::vector<Value> group_query_attention(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  int64_t heads = heads_attr(c, "num_heads"), shared = heads_attr(c, "kv_num_heads");
  if (c.flag_attr("smooth_softmax", false) || c.has(11))
    c.fail_unsupported("a plain softmax", "a smooth one");
  Value query = c.in(0), key = c.optional(1), value = c.optional(2);
  if (key.is_none()) {
    Value unit = g.div(g.shape_of(query, {.start = 2}), int_list(g, {heads + 2 * shared}));
    auto parts = g.split(query, g.mul(unit, int_list(g, {heads, shared, shared})), 3, {.axis = 2});
    query = parts[0], key = parts[1], value = parts[2];
  }
  query = split_heads(g, query, heads);
  key = split_heads(g, key, shared);
  if (c.flag_attr("do_rotary", false)) {
    Value positions = c.has(9) ? c.in(9) : positions_after(g, c.optional(3), query);
    RotaryEmbeddingAttrs attrs{.interleaved = c.flag_attr("rotary_interleaved", false)};
    query = g.rotary_embedding(query, c.in(7), c.in(8), positions, attrs);
    key = g.rotary_embedding(key, c.in(7), c.in(8), positions, attrs);
  }
  Value lengths = g.add(cast_to(g, c.in(5), DType::i64), int_list(g, {1}));
  auto [y, present_key, present_value, scores] =
      g.attention(query, key, split_heads(g, value, shared), c.optional(10), c.optional(3), c.optional(4),
                  g.reshape(lengths, int_list(g, {-1})),
                  {.scale = c.float_attr("scale", 0),
                   .softcap = c.float_attr("softcap", 0),
                   .causal = true,
                   .window = c.int_attr("local_window_size", -1)});
  return {merge_heads(g, y), present_key, present_value};
}

// The attribute, or what follows from the cosines [positions, half a head].
int64_t rotary_heads(OnnxNodeContext& c) {
  if (c.int_attr("num_heads", 0) > 0) return heads_attr(c, "num_heads");
  if (c.g().rank(c.in(0)) != 3 || c.g().rank(c.in(2)) != 2)
    c.fail_unsupported("num_heads, or input and cosines of rank 3 and 2", to_string(c.type(0)));
  const Dim &width = c.g().dims(c.in(0))[2], &half = c.g().dims(c.in(2))[1];
  if (!width.is_constant() || !half.is_constant() || half.constant() == 0)
    c.fail_unsupported("num_heads, or inputs of known sizes", to_string(c.type(0)));
  return width.constant() / (2 * half.constant());
}

// Input, positions [B, S] or the first one [1], cosines, sines.
std::vector<Value> rotary_embedding(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  double scale = c.float_attr("scale", 1);
  if (scale != 1 || c.flag_attr("is_packed_batching", false))
    c.fail_unsupported("no scale and no packed batches", "one of them");
  Value x = c.in(0), positions = c.in(1);
  bool merged = g.rank(x) == 3;
  if (merged) x = split_heads(g, x, rotary_heads(c));
  if (g.rank(positions) == 1) {
    Value length = g.reshape(g.shape_of(x, {.start = 2, .end = 3}), int_list(g, {}));
    Value steps = g.range(scalar(g, DType::i64, 0), length, scalar(g, DType::i64, 1));
    positions = g.unsqueeze(g.add(cast_to(g, positions, DType::i64), steps), int_list(g, {0}));
  }
  Value y =
      g.rotary_embedding(x, c.in(2), c.in(3), positions, {.interleaved = c.flag_attr("interleaved", false)});
  return {merged ? merge_heads(g, y) : y};
}

}  // namespace

void add_onnx_microsoft_attention(OnnxOpTable& t) {
  t[{"com.microsoft", "Attention"}] = {
      .import = attention, .limits = "no rotary embedding, no shared caches, masks of rank 1 ([batch]) to 3"};
  t[{"com.microsoft", "GroupQueryAttention"}] = {
      .import = group_query_attention,
      .limits = "caches that hold exactly the past tokens, equally many for each sample; no smooth softmax"};
  t[{"com.microsoft", "MultiHeadAttention"}] = {.import = multi_head_attention,
                                                .limits = "no shared caches; no bias beside packed heads"};
  t[{"com.microsoft", "RotaryEmbedding"}] = {.import = rotary_embedding,
                                             .limits = "no scale, no packed batches"};
}

}  // namespace ingot
