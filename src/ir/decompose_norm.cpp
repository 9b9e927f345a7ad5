#include "ir/builder_helpers.h"
#include "ir/decompose_helpers.h"
#include "ir/decompose_rules.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

// Axes [first, rank).
Value axes_from(GraphBuilder& g, int64_t first, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = first; i < rank; ++i) axes.push_back(i);
  return int_list(g, axes);
}

Value mean(GraphBuilder& g, Value x, Value axes) { return g.reduce_mean(x, axes, {.keep_if_no_axes = true}); }

// 1 / sqrt(x + epsilon).
Value inverse_root(GraphBuilder& g, Value x, double epsilon) {
  return g.reciprocal(g.sqrt(g.add(x, scalar_like(g, x, epsilon))));
}

struct Normalized {
  Value value, mean, inverse_deviation;
};

// (x - mean) / sqrt(variance + epsilon) over some axes.
Normalized normalize(GraphBuilder& g, Value x, Value axes, double epsilon) {
  Value average = mean(g, x, axes);
  Value centred = g.sub(x, average);
  Value inverse = inverse_root(g, mean(g, g.mul(centred, centred), axes), epsilon);
  return {g.mul(centred, inverse), average, inverse};
}

// A parameter of the first axes of one image, shaped so that it stretches over the others.
Value per_channel(GraphBuilder& g, Value parameter, int64_t rank, DType dtype) {
  parameter = cast_to(g, parameter, dtype);
  int64_t own = g.rank(parameter);
  return own + 1 >= rank ? parameter : g.unsqueeze(parameter, axes_from(g, own, rank - 1));
}

Value scale_and_shift(GraphBuilder& g, Value x, Value scale, Value bias) {
  x = g.mul(x, scale);
  return bias.is_none() ? x : g.add(x, bias);
}

// x less its largest element along the axis, so that exp stays finite.
Value below_zero(GraphBuilder& g, Value x, Value axis) { return g.sub(x, g.reduce_max(x, axis)); }

}  // namespace

std::vector<Value> decompose_softmax(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  Value x = widen(g, in[0]);
  if (g.rank(x) == 0) return {scalar_like(g, in[0], 1)};
  Value axis = int_list(g, {node.as<SoftmaxAttrs>().axis});
  Value e = g.exp(below_zero(g, x, axis));
  return {cast_to(g, g.div(e, g.reduce_sum(e, axis)), g.dtype(in[0]))};
}

std::vector<Value> decompose_log_softmax(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  Value x = widen(g, in[0]);
  if (g.rank(x) == 0) return {scalar_like(g, in[0], 0)};
  Value axis = int_list(g, {node.as<LogSoftmaxAttrs>().axis});
  Value below = below_zero(g, x, axis);
  return {cast_to(g, g.sub(below, g.log(g.reduce_sum(g.exp(below), axis))), g.dtype(in[0]))};
}

std::vector<Value> decompose_layer_norm(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<LayerNormAttrs>();
  int64_t rank = g.rank(in[0]);
  Value axes = axes_from(g, a.axis < 0 ? a.axis + rank : a.axis, rank);
  Normalized n = normalize(g, widen(g, in[0], a.compute), axes, a.epsilon);
  Value y = scale_and_shift(g, cast_to(g, n.value, g.dtype(in[0])), in[1], operand(in, 2));
  return {y, cast_to(g, n.mean, a.compute), cast_to(g, n.inverse_deviation, a.compute)};
}

std::vector<Value> decompose_rms_norm(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<RmsNormAttrs>();
  int64_t rank = g.rank(in[0]);
  Value x = widen(g, in[0], a.compute);
  Value axes = axes_from(g, a.axis < 0 ? a.axis + rank : a.axis, rank);
  Value inverse = inverse_root(g, mean(g, g.mul(x, x), axes), a.epsilon);
  Value y = g.mul(cast_to(g, g.mul(x, inverse), g.dtype(in[0])), in[1]);
  return {y, cast_to(g, inverse, a.compute)};
}

std::vector<Value> decompose_batch_norm(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  Value x = widen(g, in[0], g.dtype(in[4]));
  auto parameter = [&](size_t i) { return per_channel(g, in[i], g.rank(x), g.dtype(x)); };
  Value factor = g.mul(parameter(1), inverse_root(g, parameter(4), node.as<BatchNormAttrs>().epsilon));
  Value y = scale_and_shift(g, g.sub(x, parameter(3)), factor, parameter(2));
  return {cast_to(g, y, g.dtype(in[0]))};
}

std::vector<Value> decompose_instance_norm(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  Value x = widen(g, in[0]);
  int64_t rank = g.rank(x);
  Value y = normalize(g, x, axes_from(g, 2, rank), node.as<InstanceNormAttrs>().epsilon).value;
  y = scale_and_shift(g, y, per_channel(g, in[1], rank, g.dtype(x)), per_channel(g, in[2], rank, g.dtype(x)));
  return {cast_to(g, y, g.dtype(in[0]))};
}

std::vector<Value> decompose_group_norm(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<GroupNormAttrs>();
  Value x = widen(g, in[0]), shape = g.shape_of(in[0]);
  int64_t rank = g.rank(x);
  Value grouped = g.reshape(x, int_list(g, {0, a.groups, -1}));
  Value y = g.reshape(normalize(g, grouped, int_list(g, {2}), a.epsilon).value, shape);
  y = scale_and_shift(g, y, per_channel(g, in[1], rank, g.dtype(x)), per_channel(g, in[2], rank, g.dtype(x)));
  return {cast_to(g, y, g.dtype(in[0]))};
}

// Where the norm is 0 so is the result.
std::vector<Value> decompose_lp_norm(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<LpNormAttrs>();
  Value x = widen(g, in[0]), axis = int_list(g, {a.axis}), zero = scalar_like(g, x, 0);
  Value norm = a.p == 1 ? g.reduce_sum(g.abs(x), axis) : g.sqrt(g.reduce_sum(g.mul(x, x), axis));
  Value y = g.select(g.equal(norm, zero), zero, g.div(x, norm));
  return {cast_to(g, y, g.dtype(in[0]))};
}

// x / (bias + alpha / size * sum of squares over `size` neighbouring channels)^beta. The mean over
// neighbours, with zeros beyond the ends, is an average pool along the channels.
std::vector<Value> decompose_lrn(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<LrnAttrs>();
  Value x = widen(g, in[0]), shape = g.shape_of(x);
  Value planes = g.reshape(g.mul(x, x), g.concat({g.shape_of(x, {.start = 0, .end = 2}), int_list(g, {-1})}));
  Value pooled = g.average_pool(
      g.unsqueeze(planes, int_list(g, {1})),
      {.kernel = {a.size, 1}, .pads = {(a.size - 1) / 2, 0, a.size / 2, 0}, .count_include_pad = true});
  Value mean = g.reshape(pooled, shape);
  Value base = g.add(g.mul(mean, scalar_like(g, x, a.alpha)), scalar_like(g, x, a.bias));
  return {cast_to(g, g.div(x, g.pow(base, scalar_like(g, x, a.beta))), g.dtype(in[0]))};
}

}  // namespace ingot
