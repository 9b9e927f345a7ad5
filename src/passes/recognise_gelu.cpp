#include "passes/recognise_gelu.h"

#include <cmath>
#include <numbers>

#include "passes/match.h"

namespace ingot {
namespace {

bool is_scaled(const Match& m, Value v, double factor, const std::vector<Value>& values) {
  auto p = m.product(v);
  return p.values == values && m.close(v, p.factor, factor);
}

bool is_erf_inner(const Match& m, Value v, Value x) {
  return m.is(v, Op::Erf) && is_scaled(m, m.operand(v), std::numbers::sqrt2 / 2, {x});
}

// v = x + 0.044715 x^3.
bool is_cubic(const Match& m, Value v, Value x) {
  auto sum = m.binary(v, Op::Add);
  return sum && ((sum->a == x && is_scaled(m, sum->b, 0.044715, {x, x, x})) ||
                 (sum->b == x && is_scaled(m, sum->a, 0.044715, {x, x, x})));
}

// v = 1 + 0.044715 x^2.
bool is_even(const Match& m, Value v, Value x) {
  auto [square, one] = m.shifted(v);
  return m.close(v, one, 1) && is_scaled(m, square, 0.044715, {x, x});
}

bool is_tanh_inner(const Match& m, Value v, Value x) {
  if (!m.is(v, Op::Tanh)) return false;
  auto [factor, values] = m.product(m.operand(v));
  if (!m.close(v, factor, std::sqrt(2 / std::numbers::pi))) return false;
  if (values.size() == 1) return is_cubic(m, values[0], x);
  return values.size() == 2 &&
         ((values[0] == x && is_even(m, values[1], x)) || (values[1] == x && is_even(m, values[0], x)));
}

std::optional<Value> gelu(Rewriter& r, const Match& m, Value result) {
  auto [factor, values] = m.product(result);
  if (values.size() != 2 || !m.close(result, factor, 0.5)) return std::nullopt;
  for (auto [x, curve] : {Match::Pair{values[0], values[1]}, {values[1], values[0]}}) {
    auto [inner, one] = m.shifted(curve);
    if (!m.close(result, one, 1) || m.dtype(x) != m.dtype(result)) continue;
    bool erf = is_erf_inner(m, inner, x), tanh = is_tanh_inner(m, inner, x);
    if ((erf || tanh) && m.is_private(result, std::span(&x, 1)))
      return r.g().gelu(r.mapped(x), {.form = erf ? GeluForm::erf : GeluForm::tanh});
  }
  return std::nullopt;
}

}  // namespace

Graph recognise_gelu(const Graph& graph) {
  constexpr Recogniser all[] = {gelu};
  return recognise(graph, all);
}

}  // namespace ingot
