#include "passes/recognise_attention.h"

#include "ir/small_constants.h"
#include "passes/match.h"

namespace ingot {
namespace {

struct Scores {
  Value query, keys;  // keys lie transposed: [batch, heads, size, tokens]
  double scale = 1;
  Value mask;
};

// v = factor * x, where x has the shape of v.
Match::Shifted scaled(const Match& m, Value v) {
  auto [factor, values] = m.product(v);
  bool plain = values.size() == 1 && m.is_ranked(values[0]) && m.dims(values[0]) == m.dims(v);
  return plain ? Match::Shifted{values[0], factor} : Match::Shifted{v, 1};
}

std::optional<Scores> scaled_product(const Match& m, Value v) {
  if (!m.is_ranked(v)) return std::nullopt;
  auto [product, scale] = scaled(m, v);
  auto parts = m.binary(product, Op::MatMul);
  if (!parts || !m.is_ranked(parts->a) || !m.is_ranked(parts->b)) return std::nullopt;
  auto [query, query_scale] = scaled(m, parts->a);
  auto [keys, key_scale] = scaled(m, parts->b);
  double total = scale * query_scale * key_scale;
  if (total == 0) return std::nullopt;  // which would mean the usual scale
  return Scores{query, keys, total, {}};
}

// Whether a mask stretches over scores of these sizes and widens none; keys must all be there.
bool covers(const Match& m, Value mask, const Dims& scores) {
  if (!m.is_ranked(mask) || m.dims(mask).empty() || m.dims(mask).size() > scores.size()) return false;
  const Dims& d = m.dims(mask);
  size_t offset = scores.size() - d.size();
  for (size_t i = 0; i < d.size(); ++i)
    if (d[i] != scores[offset + i] && d[i] != Dim(1)) return false;
  return d.back() == scores.back();
}

std::optional<Scores> match_scores(const Match& m, Value v) {
  if (auto plain = scaled_product(m, v)) return plain;
  auto sum = m.binary(v, Op::Add);
  if (!sum) return std::nullopt;
  for (auto [product, mask] : {*sum, Match::Pair{sum->b, sum->a}}) {
    auto found = scaled_product(m, product);
    if (!found || !covers(m, mask, m.dims(product))) continue;
    found->mask = mask;
    return found;
  }
  return std::nullopt;
}

// Whether q [.., T, D], k [.., D, S] and v [.., S, E] have the same leading sizes.
bool shapes_fit(const Match& m, const Scores& s, Value values) {
  if (!m.is_ranked(values)) return false;
  const Dims &q = m.dims(s.query), &k = m.dims(s.keys), &v = m.dims(values);
  size_t rank = q.size();
  if ((rank != 3 && rank != 4) || k.size() != rank || v.size() != rank) return false;
  for (size_t i = 0; i + 2 < rank; ++i)
    if (q[i] != k[i] || q[i] != v[i]) return false;
  return q[rank - 1] == k[rank - 2] && k[rank - 1] == v[rank - 2];
}

struct Weights {
  Value softmax;
  bool guarded = false;
};

// select(is_nan(w), 0, w): rows that see nothing give 0.
Weights unguarded(const Match& m, Value v) {
  if (!m.is(v, Op::Select)) return {v};
  Value test = m.operand(v, 0), weights = m.operand(v, 2);
  bool guard = m.is(test, Op::IsNan) && m.operand(test) == weights && m.scalar(m.operand(v, 1)) == 0;
  return guard ? Weights{weights, true} : Weights{v};
}

bool is_over_keys(const Match& m, Value softmax) {
  int64_t axis = m.node(softmax).as<SoftmaxAttrs>().axis;
  return axis == -1 || axis == m.rank(softmax) - 1;
}

Value emit(Rewriter& r, const Scores& s, Value values) {
  GraphBuilder& g = r.g();
  bool with_heads = g.rank(s.query) == 4;
  auto lifted = [&](Value v) { return with_heads ? v : g.unsqueeze(v, int_list(g, {0})); };
  Value keys = g.transpose(lifted(s.keys), {.permutation = {0, 1, 3, 2}});
  Value y = g.attention(lifted(s.query), keys, lifted(values), s.mask, {}, {}, {}, {.scale = s.scale})[0];
  return with_heads ? y : g.squeeze(y, int_list(g, {0}));
}

std::optional<Value> attention(Rewriter& r, const Match& m, Value result) {
  auto product = m.binary(result, Op::MatMul);
  if (!product) return std::nullopt;
  auto [softmax, guarded] = unguarded(m, product->a);
  if (!m.is(softmax, Op::Softmax) || !m.is_ranked(softmax) || !is_over_keys(m, softmax)) return std::nullopt;
  auto s = match_scores(m, m.operand(softmax));
  if (!s || !shapes_fit(m, *s, product->b)) return std::nullopt;
  const Value leaves[] = {s->query, s->keys, product->b, s->mask};
  if (!m.is_private(result, leaves)) return std::nullopt;
  Scores mapped{r.mapped(s->query), r.mapped(s->keys), s->scale,
                s->mask.is_none() ? Value() : r.mapped(s->mask)};
  Value y = emit(r, mapped, r.mapped(product->b));
  if (!guarded) return y;
  return r.g().select(r.g().is_nan(y), scalar_like(r.g(), y, 0), y);
}

}  // namespace

Graph recognise_attention(const Graph& graph) {
  constexpr Recogniser all[] = {attention};
  return recognise(graph, all);
}

}  // namespace ingot
