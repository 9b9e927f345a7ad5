#include <limits>

#include "ir/attention_parts.h"
#include "ir/builder_helpers.h"
#include "ir/decompose_helpers.h"
#include "ir/decompose_rules.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

Value append(GraphBuilder& g, Value past, Value now, int64_t axis) {
  return past.is_none() ? now : g.concat({past, now}, {.axis = axis});
}

// Extends the last axis of a mask to `length` with what lets nothing through.
Value extend_mask(GraphBuilder& g, Value mask, Value keys) {
  int64_t rank = g.rank(mask);
  if (rank == 0 || g.dims(mask)[static_cast<size_t>(rank - 1)] == g.dims(keys)[2]) return mask;
  Value missing = g.sub(size_of(g, keys, 2), size_of(g, mask, rank - 1));
  Value closed = g.dtype(mask) == DType::boolean
                     ? g.constant(scalar(DType::boolean, 0))
                     : scalar_like(g, mask, -std::numeric_limits<double>::infinity());
  return g.pad(mask, g.concat({int_list(g, {0}), missing}), closed, int_list(g, {rank - 1}));
}

// Which keys a query may see: all up to its own position, and of those the last `window`, if that is set.
Value visible_keys(GraphBuilder& g, Value query, Value keys, Value past, const AttentionAttrs& a) {
  Value first = past.is_none() ? int_list(g, {0}) : size_of(g, past, 2);
  Value rows = g.unsqueeze(g.add(count_up(g, size_of(g, query, 2)), first), int_list(g, {1}));
  Value columns = count_up(g, size_of(g, keys, 2));
  Value visible;
  if (a.causal) visible = g.less_or_equal(columns, rows);
  if (a.window < 0) return visible;
  Value recent = g.less(g.sub(rows, int_list(g, {a.window})), columns);
  return visible.is_none() ? recent : g.logical_and(visible, recent);
}

Value both(GraphBuilder& g, Value a, Value b) {
  if (a.is_none() || b.is_none()) return a.is_none() ? b : a;
  return g.logical_and(a, b);
}

// bool [B, 1, 1, keys]: positions below the number of real tokens of each sample.
Value real_keys(GraphBuilder& g, Value keys, Value lengths) {
  return g.less(count_up(g, size_of(g, keys, 2)),
                g.unsqueeze(cast_to(g, lengths, DType::i64), int_list(g, {1, 2, 3})));
}

Value apply_mask(GraphBuilder& g, Value scores, const AttentionAttrs& a, std::span<const Value> in,
                 Value keys) {
  Value mask = operand(in, 3), open;
  if (!mask.is_none()) {
    mask = extend_mask(g, mask, keys);
    if (g.dtype(mask) == DType::boolean)
      open = mask;
    else
      scores = g.add(scores, cast_to(g, mask, g.dtype(scores)));
  }
  if (a.causal || a.window >= 0) open = both(g, open, visible_keys(g, in[0], keys, operand(in, 4), a));
  if (!operand(in, 6).is_none()) open = both(g, open, real_keys(g, keys, in[6]));
  if (open.is_none()) return scores;
  return g.select(open, scores, scalar_like(g, scores, -std::numeric_limits<double>::infinity()));
}

}  // namespace

std::vector<Value> decompose_attention(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<AttentionAttrs>();
  Value keys = append(g, operand(in, 4), in[1], 2), values = append(g, operand(in, 5), in[2], 2);
  Value query = widen(g, in[0]);
  Value scores =
      multiply_heads(g, g.mul(query, score_scale(g, query, a.scale)), cast_to(g, keys, g.dtype(query)), true);
  std::map<AttentionScores, Value> stages = {{AttentionScores::raw, scores}};
  if (a.softcap > 0) {
    Value cap = scalar_like(g, scores, a.softcap);
    scores = g.mul(g.tanh(g.div(scores, cap)), cap);
  }
  stages[AttentionScores::capped] = scores;
  scores = apply_mask(g, scores, a, in, keys);
  stages[AttentionScores::masked] = scores;
  Value weights = g.softmax(scores);
  stages[AttentionScores::weights] = weights;
  Value y = multiply_heads(g, weights, cast_to(g, values, g.dtype(weights)), false);
  return {cast_to(g, y, g.dtype(in[0])), keys, values, cast_to(g, stages.at(a.scores), g.dtype(in[0]))};
}

// Pairs (x1, x2) of a head turn by an angle: (x1 cos - x2 sin, x1 sin + x2 cos). Pairs are neighbours if
// interleaved, else one of each half; elements beyond the rotated ones pass.
std::vector<Value> decompose_rotary_embedding(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  bool interleaved = node.as<RotaryEmbeddingAttrs>().interleaved;
  Value x = widen(g, in[0]), axis = int_list(g, {3}), zero = int_list(g, {0}), one = int_list(g, {1});
  auto angles = [&](Value table) {
    table = widen(g, table);
    return g.unsqueeze(in.size() > 3 ? g.gather(table, in[3]) : table, one);
  };
  Value cosine = angles(in[1]), sine = angles(in[2]);
  Value half = size_of(g, cosine, 3), rotated = g.add(half, half), two = int_list(g, {2});
  Value x1 = interleaved ? g.slice(x, zero, rotated, axis, two) : g.slice(x, zero, half, axis, one);
  Value x2 = interleaved ? g.slice(x, one, rotated, axis, two) : g.slice(x, half, rotated, axis, one);
  Value y1 = g.sub(g.mul(x1, cosine), g.mul(x2, sine)), y2 = g.add(g.mul(x1, sine), g.mul(x2, cosine));
  Value y;
  if (interleaved) {
    Value last = int_list(g, {4});
    Value pairs = g.concat({g.unsqueeze(y1, last), g.unsqueeze(y2, last)}, {.axis = 4});
    y = g.reshape(pairs, g.concat({g.shape_of(x, {.start = 0, .end = 3}), rotated}), {.zero_is_zero = true});
  } else {
    y = g.concat({y1, y2}, {.axis = 3});
  }
  Value rest = g.slice(x, rotated, int_list(g, {INT64_MAX}), axis, one);
  return {cast_to(g, g.concat({y, rest}, {.axis = 3}), g.dtype(in[0]))};
}

namespace {

// One token of linear attention; every value lacks the axis of tokens.
// Inputs: state [B, H, K, V], query [B, H, G, K], key [B, H, K], value [B, H, V], then decay and beta where
// they are.
GraphPtr linear_attention_step(const std::vector<Type>& types, bool gated, bool delta) {
  GraphBuilder g("linear attention step");
  std::vector<Value> in;
  for (size_t i = 0; i < types.size(); ++i) in.push_back(g.input(fmt::format("{}", i), types[i]));
  Value state = in[0], row = int_list(g, {2}), column = int_list(g, {3});
  if (gated) state = g.mul(state, g.exp(g.unsqueeze(in[4], column)));
  Value value = g.unsqueeze(in[3], row), key = g.unsqueeze(in[2], row);
  if (delta) value = g.mul(g.unsqueeze(in.back(), row), g.sub(value, g.matmul(key, state)));
  state = g.add(state, g.mul(g.unsqueeze(in[2], column), value));
  g.output("state", state);
  g.output("y", g.matmul(in[1], state));
  return std::make_shared<const Graph>(std::move(g).finish());
}

Value initial_state(GraphBuilder& g, Value past, Value key, Value value) {
  if (!past.is_none()) return cast_to(g, past, g.dtype(key));
  Value shape = g.concat({g.shape_of(key, {.start = 0, .end = 2}), size_of(g, key, 3), size_of(g, value, 3)});
  return g.broadcast_to(scalar_like(g, key, 0), shape);
}

}  // namespace

std::vector<Value> decompose_linear_attention(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<LinearAttentionAttrs>();
  Value query = widen(g, in[0]), key = cast_to(g, in[1], g.dtype(query)),
        value = cast_to(g, in[2], g.dtype(query));
  Value scaled = g.mul(query, score_scale(g, query, a.scale));
  std::vector<Value> scanned = {group_heads(g, scaled, key), key, value};
  ScanAttrs attrs{.input_axes = {3, 2, 2}, .output_axes = {3}};
  for (size_t i : {4, 5}) {
    if (operand(in, i).is_none()) continue;
    scanned.push_back(cast_to(g, in[i], g.dtype(query)));
    attrs.input_axes.push_back(2);
  }
  Value state = initial_state(g, operand(in, 3), key, value);
  std::vector<Type> types = {g.type(state)};
  for (size_t i = 0; i < scanned.size(); ++i) {
    Dims dims = g.dims(scanned[i]);
    dims.erase(dims.begin() + attrs.input_axes[i]);
    types.push_back(Type::tensor(g.dtype(query), std::move(dims)));
  }
  GraphPtr body = linear_attention_step(types, !operand(in, 4).is_none(), !operand(in, 5).is_none());
  auto results = g.scan({state}, scanned, body, {}, attrs);
  Value shape = g.concat({g.shape_of(query, {.start = 0, .end = 3}), size_of(g, value, 3)});
  Value y = g.reshape(results[1], shape, {.zero_is_zero = true});
  DType state_type = operand(in, 3).is_none() ? g.dtype(in[0]) : g.dtype(in[3]);
  return {cast_to(g, y, g.dtype(in[0])), cast_to(g, results[0], state_type)};
}

std::vector<Value> decompose_causal_conv(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  Value x = in[0], past = operand(in, 3);
  Value carried = g.sub(size_of(g, in[1], 2), int_list(g, {1})), axis = int_list(g, {2});
  Value padded = past.is_none() ? g.pad(x, g.concat({carried, int_list(g, {0})}), Value(), axis)
                                : g.concat({past, x}, {.axis = 2});
  Value y = g.conv(padded, in[1], operand(in, 2), {.group = g.dims(in[1])[0].constant()});
  if (node.as<CausalConvAttrs>().swish) {
    Value wide = widen(g, y);
    y = cast_to(g, g.mul(wide, g.sigmoid(wide)), g.dtype(x));
  }
  return {y, g.slice(padded, size_of(g, x, 2), int_list(g, {INT64_MAX}), axis, int_list(g, {1}))};
}

}  // namespace ingot
