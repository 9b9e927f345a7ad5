#include "passes/recognise_attention.h"

#include <limits>

#include "ir/builder_helpers.h"
#include "passes/match.h"

namespace ingot {
namespace {

struct Scores {
  Value query, keys;  // keys lie transposed: [batch, heads, size, tokens]
  double scale = 1;
  double softcap = 0;
  Value mask;
};

// What the products read, as deep as it can be told: [batch, heads, tokens, size], with fewer heads than the
// query where each serves several.
struct Rows {
  Value keys, values, past_keys, past_values;
  bool transposed = false;  // keys
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
  return Scores{query, keys, total, 0, {}};
}

// The product itself, or cap * tanh(product / cap).
std::optional<Scores> capped_product(const Match& m, Value v) {
  if (auto plain = scaled_product(m, v)) return plain;
  if (!m.is_ranked(v)) return std::nullopt;
  auto [tanh, cap] = scaled(m, v);
  if (cap <= 0 || !m.is(tanh, Op::Tanh)) return std::nullopt;
  auto inner = scaled_product(m, m.operand(tanh));
  if (!inner) return std::nullopt;
  inner->scale *= cap;
  inner->softcap = cap;
  return inner;
}

// Whether a mask stretches over scores of these sizes and widens none. There are as many columns as keys, or
// one that stretches: any other number would not fit the values.
bool covers(const Match& m, Value mask, const Dims& scores) {
  if (!m.is_ranked(mask) || m.dims(mask).empty() || m.dims(mask).size() > scores.size()) return false;
  const Dims& d = m.dims(mask);
  size_t offset = scores.size() - d.size();
  for (size_t i = 0; i + 1 < d.size(); ++i)
    if (d[i] != scores[offset + i] && d[i] != Dim(1)) return false;
  return d.back() == scores.back() || !d.back().is_constant();
}

// mask + product, or the product where a mask is true and minus infinity elsewhere.
std::optional<Scores> masked_product(const Match& m, Value product, Value mask) {
  auto found = capped_product(m, product);
  if (!found || !covers(m, mask, m.dims(product))) return std::nullopt;
  found->mask = mask;
  return found;
}

std::optional<Scores> match_scores(const Match& m, Value v) {
  if (auto plain = capped_product(m, v)) return plain;
  if (m.is(v, Op::Select) && m.scalar(m.operand(v, 2)) == -std::numeric_limits<double>::infinity())
    return masked_product(m, m.operand(v, 1), m.operand(v, 0));
  auto sum = m.binary(v, Op::Add);
  if (!sum) return std::nullopt;
  auto found = masked_product(m, sum->a, sum->b);
  return found ? found : masked_product(m, sum->b, sum->a);
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

// x, where v holds each of its heads several times in a row: reshape(broadcast_to(unsqueeze(x, 2))).
std::optional<Value> shared_heads(const Match& m, Value v) {
  if (!m.is(v, Op::Reshape) || !m.is(m.operand(v), Op::BroadcastTo)) return std::nullopt;
  Value repeated = m.operand(v), single = m.operand(repeated);
  if (!m.is(single, Op::Unsqueeze) || m.integers(m.operand(single, 1)) != std::vector<int64_t>{2})
    return std::nullopt;
  Value x = m.operand(single);
  if (!m.is_ranked(x) || m.rank(x) != 4 || m.rank(repeated) != 5 || m.rank(v) != 4) return std::nullopt;
  const Dims &from = m.dims(x), &wide = m.dims(repeated), &to = m.dims(v);
  bool fits = wide[0] == from[0] && wide[1] == from[1] && wide[3] == from[2] && wide[4] == from[3] &&
              to[0] == from[0] && to[1] == wide[1] * wide[2] && to[2] == from[2] && to[3] == from[3];
  return fits ? std::optional(x) : std::nullopt;
}

// v = concat(past, rows) along the tokens.
std::optional<Match::Pair> appended(const Match& m, Value v) {
  if (!m.is(v, Op::Concat) || m.node(v).operands.size() != 2 || !m.is_ranked(v) || m.rank(v) != 4)
    return std::nullopt;
  int64_t axis = m.node(v).as<ConcatAttrs>().axis;
  if (axis != 2 && axis != -2) return std::nullopt;
  return Match::Pair{m.operand(v, 0), m.operand(v, 1)};
}

// The products' own operands first, then ever further back.
std::vector<Rows> possible_rows(const Match& m, Value keys, Value values) {
  std::vector<Rows> out = {
      {.keys = keys, .values = values, .past_keys = {}, .past_values = {}, .transposed = true}};
  if (!m.is(keys, Op::Transpose) || m.rank(keys) != 4 ||
      m.node(keys).as<TransposeAttrs>().permutation != std::vector<int64_t>{0, 1, 3, 2})
    return out;
  Rows rows{.keys = m.operand(keys), .values = values, .past_keys = {}, .past_values = {}};
  out.push_back(rows);
  auto shared_keys = shared_heads(m, rows.keys), shared_values = shared_heads(m, rows.values);
  if (shared_keys && shared_values && m.dims(*shared_keys)[1] == m.dims(*shared_values)[1]) {
    rows.keys = *shared_keys;
    rows.values = *shared_values;
    out.push_back(rows);
  }
  auto all_keys = appended(m, rows.keys), all_values = appended(m, rows.values);
  if (all_keys && all_values)
    out.push_back({.keys = all_keys->b,
                   .values = all_values->b,
                   .past_keys = all_keys->a,
                   .past_values = all_values->a});
  return out;
}

class Emitter {
 public:
  Emitter(Rewriter& r, const Scores& scores, const Rows& rows)
      : r_(r), g_(r.g()), scores_(scores), rows_(rows) {}

  Value emit() {
    bool with_heads = g_.rank(mapped(scores_.query)) == 4;
    auto lifted = [&](Value v) { return with_heads ? v : g_.unsqueeze(v, int_list(g_, {0})); };
    Value keys = lifted(mapped(rows_.keys));
    if (rows_.transposed) keys = g_.transpose(keys, {.permutation = {0, 1, 3, 2}});
    Value past = mapped(rows_.past_keys);
    Value y = g_.attention(lifted(mapped(scores_.query)), keys, lifted(mapped(rows_.values)),
                           mask(keys, past), past, mapped(rows_.past_values), {},
                           {.scale = scores_.scale, .softcap = scores_.softcap})[0];
    return with_heads ? y : g_.squeeze(y, int_list(g_, {0}));
  }

 private:
  Value mapped(Value v) const { return v.is_none() ? v : r_.mapped(v); }

  // With a column for each key: one that stretches is not what a mask means that is too short.
  Value mask(Value keys, Value past) {
    Value mask = mapped(scores_.mask);
    if (mask.is_none()) return mask;
    Dim count = g_.dims(keys)[2];
    if (!past.is_none()) count = count + g_.dims(past)[2];
    if (g_.dims(mask).back() == count) return mask;
    Value columns = size_of(g_, keys, 2);
    if (!past.is_none()) columns = g_.add(columns, size_of(g_, past, 2));
    if (g_.rank(mask) == 1) return g_.broadcast_to(mask, columns);
    return g_.broadcast_to(mask, g_.concat({sizes_of(g_, mask, 0, g_.rank(mask) - 1), columns}));
  }

  Rewriter& r_;
  GraphBuilder& g_;
  const Scores& scores_;
  const Rows& rows_;
};

// The furthest rows back such that nothing else needs what is between.
std::optional<Rows> private_rows(const Match& m, Value result, const Scores& s, Value values) {
  std::vector<Rows> possible = possible_rows(m, s.keys, values);
  for (; !possible.empty(); possible.pop_back()) {
    const Rows& rows = possible.back();
    const Value leaves[] = {s.query, s.mask, rows.keys, rows.values, rows.past_keys, rows.past_values};
    if (m.is_private(result, leaves)) return rows;
  }
  return std::nullopt;
}

std::optional<Value> attention(Rewriter& r, const Match& m, Value result) {
  auto product = m.binary(result, Op::MatMul);
  if (!product) return std::nullopt;
  auto [softmax, guarded] = unguarded(m, product->a);
  if (!m.is(softmax, Op::Softmax) || !m.is_ranked(softmax) || !is_over_keys(m, softmax)) return std::nullopt;
  auto s = match_scores(m, m.operand(softmax));
  if (!s || !shapes_fit(m, *s, product->b)) return std::nullopt;
  auto rows = private_rows(m, result, *s, product->b);
  if (!rows) return std::nullopt;
  Value y = Emitter(r, *s, *rows).emit();
  if (!guarded) return y;
  return r.g().select(r.g().is_nan(y), scalar_like(r.g(), y, 0), y);
}

}  // namespace

Graph recognise_attention(const Graph& graph) {
  constexpr Recogniser all[] = {attention};
  return recognise(graph, all);
}

}  // namespace ingot
