#include "passes/recognise_activations.h"

#include "passes/match.h"

namespace ingot {
namespace {

using Found = std::optional<Value>;

bool has_shape_of(const Match& m, Value a, Value b) {
  return m.is_ranked(a) && m.is_ranked(b) && m.dims(a) == m.dims(b);
}

// max(min(x, high), low) is the same where low <= high, NaN included.
Found clamp(Rewriter& r, const Match& m, Value result) {
  for (auto [outer, inner] : {std::pair{Op::Min, Op::Max}, {Op::Max, Op::Min}}) {
    auto last = m.binary(result, outer);
    auto first = last ? m.binary(last->a, inner) : std::nullopt;
    if (!first || !m.scalar(first->b) || !m.scalar(last->b)) continue;
    Value low = outer == Op::Min ? first->b : last->b, high = outer == Op::Min ? last->b : first->b;
    if (!(*m.scalar(low) <= *m.scalar(high)) || !has_shape_of(m, result, first->a)) continue;
    if (m.is_private(result, std::span(&first->a, 1)))
      return r.g().clamp(r.mapped(first->a), r.mapped(low), r.mapped(high));
  }
  return std::nullopt;
}

// v = clamp(x + 3, 0, 6).
std::optional<Value> ramp(const Match& m, Value v) {
  if (!m.is(v, Op::Clamp) || !m.is_scalar(m.operand(v, 1), 0) || !m.is_scalar(m.operand(v, 2), 6))
    return std::nullopt;
  auto [x, term] = m.shifted(m.operand(v));
  return m.close(v, term, 3) ? std::optional(x) : std::nullopt;
}

Found hard_sigmoid(Rewriter& r, const Match& m, Value result) {
  auto [factor, values] = m.product(result);
  auto x = values.size() == 1 ? ramp(m, values[0]) : std::nullopt;
  if (!x || !m.close(result, factor, 1.0 / 6) || !m.is_private(result, std::span(&*x, 1)))
    return std::nullopt;
  return r.g().hard_sigmoid(r.mapped(*x), {.alpha = 1.0 / 6, .beta = 0.5});
}

bool is_hard_sigmoid_of(const Match& m, Value v, Value x) {
  if (!m.is(v, Op::HardSigmoid) || m.operand(v) != x) return false;
  const auto& a = m.node(v).as<HardSigmoidAttrs>();
  return m.close(v, a.alpha, 1.0 / 6) && m.close(v, a.beta, 0.5);
}

// v = op(a x): gives a.
std::optional<double> factor_in(const Match& m, Value v, Op op, Value x) {
  if (!m.is(v, op)) return std::nullopt;
  if (m.operand(v) == x) return 1;
  auto [factor, values] = m.product(m.operand(v));
  return values == std::vector<Value>{x} ? std::optional(factor) : std::nullopt;
}

bool is_tanh_of_softplus(const Match& m, Value v, Value x) {
  return m.is(v, Op::Tanh) && m.is(m.operand(v), Op::Softplus) && m.operand(m.operand(v)) == x;
}

// x times a gate that depends on x.
Found gated(Rewriter& r, const Match& m, Value result) {
  auto [factor, values] = m.product(result);
  if (values.size() != 2) return std::nullopt;
  for (auto [x, gate] : {Match::Pair{values[0], values[1]}, {values[1], values[0]}}) {
    if (!has_shape_of(m, x, result) || !m.is_private(result, std::span(&x, 1))) continue;
    auto ramped = ramp(m, gate);
    if (ramped == x && m.close(result, factor, 1.0 / 6)) return r.g().hard_swish(r.mapped(x));
    if (factor != 1) continue;
    if (is_hard_sigmoid_of(m, gate, x)) return r.g().hard_swish(r.mapped(x));
    if (auto a = factor_in(m, gate, Op::Sigmoid, x)) return r.g().swish(r.mapped(x), {.alpha = *a});
    if (is_tanh_of_softplus(m, gate, x)) return r.g().mish(r.mapped(x));
  }
  return std::nullopt;
}

}  // namespace

Graph recognise_activations(const Graph& graph) {
  constexpr Recogniser bounds[] = {clamp}, sigmoids[] = {hard_sigmoid}, gates[] = {gated};
  return recognise(recognise(recognise(graph, bounds), gates), sigmoids);
}

}  // namespace ingot
