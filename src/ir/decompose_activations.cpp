#include <cmath>
#include <numbers>

#include "ir/decompose_rules.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

Value scaled(GraphBuilder& g, Value x, double factor) { return g.mul(x, scalar_like(g, x, factor)); }
Value shifted(GraphBuilder& g, Value x, double term) { return g.add(x, scalar_like(g, x, term)); }
Value clamped(GraphBuilder& g, Value x, double low, double high) {
  return g.clamp(x, scalar_like(g, x, low), scalar_like(g, x, high));
}
Value is_negative(GraphBuilder& g, Value x) { return g.less(x, scalar_like(g, x, 0)); }

}  // namespace

std::vector<Value> decompose_clamp(GraphBuilder& g, const Node&, std::span<const Value> in) {
  return {g.min(g.max(in[0], in[1]), in[2])};
}

// x where it is positive, else alpha * (e^x - 1).
std::vector<Value> decompose_elu(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  Value x = in[0], curve = scaled(g, shifted(g, g.exp(x), -1), node.as<EluAttrs>().alpha);
  return {g.select(is_negative(g, x), curve, x)};
}

// x * Phi(x), where Phi is the normal distribution or its approximation by tanh (Hendrycks and Gimpel, 2016).
std::vector<Value> decompose_gelu(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  Value x = in[0], inner;
  if (node.as<GeluAttrs>().form == GeluForm::erf) {
    inner = g.erf(scaled(g, x, std::numbers::sqrt2 / 2));
  } else {
    Value cube = g.mul(g.mul(x, x), x);
    inner = g.tanh(scaled(g, g.add(x, scaled(g, cube, 0.044715)), std::sqrt(2 / std::numbers::pi)));
  }
  return {g.mul(scaled(g, x, 0.5), shifted(g, inner, 1))};
}

// alpha * x + beta, held in [0, 1].
std::vector<Value> decompose_hard_sigmoid(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<HardSigmoidAttrs>();
  return {clamped(g, shifted(g, scaled(g, in[0], a.alpha), a.beta), 0, 1)};
}

std::vector<Value> decompose_hard_swish(GraphBuilder& g, const Node&, std::span<const Value> in) {
  return {g.mul(in[0], g.hard_sigmoid(in[0], {.alpha = 1.0 / 6, .beta = 0.5}))};
}

std::vector<Value> decompose_leaky_relu(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  Value x = in[0];
  return {g.select(is_negative(g, x), scaled(g, x, node.as<LeakyReluAttrs>().alpha), x)};
}

std::vector<Value> decompose_mish(GraphBuilder& g, const Node&, std::span<const Value> in) {
  return {g.mul(in[0], g.tanh(g.softplus(in[0])))};
}

std::vector<Value> decompose_prelu(GraphBuilder& g, const Node&, std::span<const Value> in) {
  return {g.select(is_negative(g, in[0]), g.mul(in[0], in[1]), in[0])};
}

// log(1 + e^x), written so that nothing overflows: max(x, 0) + log(1 + e^-|x|).
std::vector<Value> decompose_softplus(GraphBuilder& g, const Node&, std::span<const Value> in) {
  Value x = in[0], tail = g.log(shifted(g, g.exp(g.neg(g.abs(x))), 1));
  return {g.add(g.relu(x), tail)};
}

std::vector<Value> decompose_swish(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  return {g.mul(in[0], g.sigmoid(scaled(g, in[0], node.as<SwishAttrs>().alpha)))};
}

}  // namespace ingot
