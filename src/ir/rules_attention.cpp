#include "ir/rule_helpers.h"
#include "ir/rules.h"

// Attention and what surrounds it. Heads are an axis of their own: [batch, heads, tokens, size].
namespace ingot::rules {
namespace {

void require_equal(const Inference& c, size_t operand, size_t axis, const Dim& expected) {
  const Dim& d = c.dims(operand)[axis];
  if (d.is_constant() && expected.is_constant() && d != expected)
    c.fail(static_cast<int>(operand), fmt::format("{} along axis {}", expected.constant(), axis),
           to_string(c.dims(operand)));
}

// Heads of the query are a multiple of those of the key.
void require_heads(const Inference& c, size_t query, size_t key) {
  const Dim &q = c.dims(query)[1], &k = c.dims(key)[1];
  if (q.is_constant() && k.is_constant() && (k.constant() == 0 || q.constant() % k.constant() != 0))
    c.fail(static_cast<int>(query), fmt::format("heads that are a multiple of {}", k.constant()),
           to_string(c.dims(query)));
}

// The type of a cache (operand `past`, may be absent) with the tokens of operand `now` appended.
Type appended(const Inference& c, size_t past, size_t now) {
  if (!c.has(past)) return c.type(now);
  if (!c.is_ranked(past) || !c.is_ranked(now)) return Type::unranked(c.dtype(now));
  Dims out = c.dims(now);
  require_equal(c, past, 1, out[1]);
  require_equal(c, past, 3, out[3]);
  out[2] = out[2] + c.dims(past)[2];
  return Type::tensor(c.dtype(now), std::move(out));
}

}  // namespace

void attention_type(Inference& c) {
  c.require_same_dtype(0, 1);
  for (size_t i : {0, 1, 2, 4, 5}) require_rank(c, i, 4);
  if (c.has(3) && c.dtype(3) != DType::boolean && !is_floating(c.dtype(3)))
    c.fail(3, "a boolean or floating mask", std::string(to_string(c.dtype(3))));
  if (c.has(4) != c.has(5)) c.fail(-1, "past key and value together", "one of them");
  if (c.has(4)) c.require_same_dtype(1, 4);
  if (c.has(5)) c.require_same_dtype(2, 5);
  require_rank(c, 6, 1);
  Type key = appended(c, 4, 1), value = appended(c, 5, 2);
  c.set(1, key);
  c.set(2, value);
  if (!c.is_ranked(0) || !key.is_ranked() || !value.is_ranked()) {
    c.set(0, Type::unranked(c.dtype(0)));
    return c.set(3, Type::unranked(c.dtype(0)));
  }
  require_heads(c, 0, 1);
  require_equal(c, 1, 3, c.dims(0)[3]);
  const Dims& q = c.dims(0);
  c.set(0, c.dtype(0), {q[0], q[1], q[2], (*value.dims)[3]});
  c.set(3, c.dtype(0), {q[0], q[1], q[2], (*key.dims)[2]});
}

void rotary_embedding_type(Inference& c) {
  require_rank(c, 0, 4);
  for (size_t i : {1, 2}) {
    c.require_same_dtype(0, i);
    require_rank(c, i, c.has(3) ? 2 : 3);
  }
  require_rank(c, 3, 2);
  c.set(0, c.type(0));
}

// q [B, Hq, T, K], k [B, H, T, K], v [B, H, T, V], past [B, H, K, V], decay [B, H, T, 1 or K], beta [B, 1 or
// H, T, 1].
void linear_attention_type(Inference& c) {
  const auto& a = c.attrs<LinearAttentionAttrs>();
  for (size_t i = 0; i < 6; ++i) require_rank(c, i, 4);
  for (size_t i : {1, 2}) c.require_same_dtype(0, i);
  bool gated = a.update == LinearAttentionRule::gated || a.update == LinearAttentionRule::gated_delta;
  bool delta = a.update == LinearAttentionRule::delta || a.update == LinearAttentionRule::gated_delta;
  if (c.has(4) != gated)
    c.fail(4, gated ? "a decay for this rule" : "no decay for this rule", gated ? "none" : "one");
  if (c.has(5) != delta)
    c.fail(5, delta ? "a beta for this rule" : "no beta for this rule", delta ? "none" : "one");
  DType state = c.has(3) ? c.dtype(3) : c.dtype(0);
  if (!c.is_ranked(0) || !c.is_ranked(1) || !c.is_ranked(2)) {
    c.set(0, Type::unranked(c.dtype(0)));
    return c.set(1, c.has(3) ? c.type(3) : Type::unranked(state));
  }
  require_heads(c, 0, 1);
  const Dims &q = c.dims(0), &k = c.dims(1), &v = c.dims(2);
  require_equal(c, 1, 3, q[3]);
  require_equal(c, 1, 2, q[2]);
  require_equal(c, 2, 2, q[2]);
  require_equal(c, 2, 1, k[1]);
  c.set(0, c.dtype(0), {q[0], q[1], q[2], v[3]});
  c.set(1, state, {k[0], k[1], k[3], v[3]});
}

// x [N, C, L], w [C, 1, K], bias [C], past [N, C, K - 1].
void causal_conv_type(Inference& c) {
  c.require_same_dtype(0, 1);
  for (size_t i : {0, 1, 3}) require_rank(c, i, 3);
  require_rank(c, 2, 1);
  for (size_t i : {2, 3})
    if (c.has(i)) c.require_same_dtype(0, i);
  c.set(0, c.type(0));
  if (!c.is_ranked(0) || !c.is_ranked(1)) return c.set(1, Type::unranked(c.dtype(0)));
  const Dims &x = c.dims(0), &w = c.dims(1);
  require_equal(c, 1, 0, x[1]);
  require_equal(c, 1, 1, 1);
  if (!w[0].is_constant()) c.fail(1, "a known number of channels", to_string(w));
  if (c.has(3) && c.is_ranked(3)) require_equal(c, 3, 2, w[2] - 1);
  c.set(1, c.dtype(0), {x[0], x[1], w[2] - 1});
}

}  // namespace ingot::rules
