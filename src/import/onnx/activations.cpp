#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"

namespace ingot {
namespace {

using Values = std::vector<Value>;

template <class A>
Values plain(OnnxNodeContext& c) {
  return c.g().add(A{}, {c.in(0)});
}

// Ops with one attribute `alpha`.
template <class A>
Values with_alpha(OnnxNodeContext& c) {
  return c.g().add(A{.alpha = c.float_attr("alpha", A{}.alpha)}, {c.in(0)});
}

Values hard_sigmoid(OnnxNodeContext& c) {
  return {
      c.g().hard_sigmoid(c.in(0), {.alpha = c.float_attr("alpha", 0.2), .beta = c.float_attr("beta", 0.5)})};
}

Values gelu(OnnxNodeContext& c) {
  GeluForm form =
      c.enum_attr<GeluForm>("approximate", "none", {{"none", GeluForm::erf}, {"tanh", GeluForm::tanh}});
  return {c.g().gelu(c.in(0), {.form = form})};
}

Values fast_gelu(OnnxNodeContext& c) {
  Value x = c.has(1) ? c.g().add(c.in(0), c.in(1)) : c.in(0);
  return {c.g().gelu(x, {.form = GeluForm::tanh})};
}

Values bias_gelu(OnnxNodeContext& c) { return {c.g().gelu(c.g().add(c.in(0), c.in(1)))}; }

Values quick_gelu(OnnxNodeContext& c) {
  return {c.g().swish(c.in(0), {.alpha = c.float_attr("alpha", 1.702)})};
}

// alpha * elu(x / alpha).
Values celu(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value alpha = scalar_like(g, c.in(0), c.float_attr("alpha", 1));
  return {g.mul(alpha, g.elu(g.div(c.in(0), alpha)))};
}

// gamma * elu(x). The defaults of opset 6 have more digits.
Values selu(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  bool old = c.opset() < 6;
  double alpha = c.float_attr("alpha", old ? 1.6732 : 1.67326319217681884765625);
  double gamma = c.float_attr("gamma", old ? 1.0507 : 1.05070102214813232421875);
  return {g.mul(scalar_like(g, c.in(0), gamma), g.elu(c.in(0), {.alpha = alpha}))};
}

Values thresholded_relu(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), above = g.less(scalar_like(g, x, c.float_attr("alpha", 1)), x);
  return {g.select(above, x, scalar_like(g, x, 0))};
}

Values softsign(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  return {g.div(c.in(0), g.add(g.abs(c.in(0)), scalar_like(g, c.in(0), 1)))};
}

// x moves by `bias` towards zero outside [-lambd, lambd] and is zero inside.
Values shrink(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), limit = scalar_like(g, x, c.float_attr("lambd", 0.5));
  Value bias = scalar_like(g, x, c.float_attr("bias", 0));
  Value low = g.less(x, g.neg(limit)), high = g.less(limit, x);
  return {g.select(low, g.add(x, bias), g.select(high, g.sub(x, bias), scalar_like(g, x, 0)))};
}

// Up to opset 6 a slope of one axis belongs to the channels.
Values prelu(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), slope = c.in(1);
  if (c.opset() < 7 && g.is_ranked(x) && g.rank(x) > 2 && g.is_ranked(slope) && g.rank(slope) == 1) {
    std::vector<int64_t> shape(static_cast<size_t>(g.rank(x) - 1), 1);
    shape[0] = 0;
    slope = g.reshape(slope, int_list(g, shape));
  }
  return {g.prelu(x, slope)};
}

}  // namespace

void add_onnx_activations(OnnxOpTable& t) {
  t[{"", "Elu"}] = {.import = with_alpha<EluAttrs>};
  t[{"", "HardSwish"}] = {.import = plain<HardSwishAttrs>, .first_opset = 14};
  t[{"", "LeakyRelu"}] = {.import = with_alpha<LeakyReluAttrs>};
  t[{"", "Mish"}] = {.import = plain<MishAttrs>, .first_opset = 18};
  t[{"", "Relu"}] = {.import = plain<ReluAttrs>};
  t[{"", "Sigmoid"}] = {.import = plain<SigmoidAttrs>};
  t[{"", "Softplus"}] = {.import = plain<SoftplusAttrs>};
  t[{"", "Swish"}] = {.import = with_alpha<SwishAttrs>, .first_opset = 24};
  t[{"", "Celu"}] = {.import = celu, .first_opset = 12};
  t[{"", "Gelu"}] = {.import = gelu, .first_opset = 20};
  t[{"", "HardSigmoid"}] = {.import = hard_sigmoid};
  t[{"", "PRelu"}] = {.import = prelu};
  t[{"", "Selu"}] = {.import = selu};
  t[{"", "Shrink"}] = {.import = shrink, .first_opset = 9};
  t[{"", "Softsign"}] = {.import = softsign};
  t[{"", "ThresholdedRelu"}] = {.import = thresholded_relu, .first_opset = 10};
  t[{"com.microsoft", "BiasGelu"}] = {.import = bias_gelu};
  t[{"com.microsoft", "FastGelu"}] = {.import = fast_gelu};
  t[{"com.microsoft", "Gelu"}] = {.import = gelu};
  t[{"com.microsoft", "QuickGelu"}] = {.import = quick_gelu};
}

}  // namespace ingot
