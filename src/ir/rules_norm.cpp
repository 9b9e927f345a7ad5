#include "ir/rules.h"

// Normalisations: the output is like operand 0, scaled and shifted by parameters.
namespace ingot::rules {
namespace {

// The shape of operand 0 with the axes from `axis` on reduced to 1.
Type statistics(const Inference& c, int64_t axis, DType dtype) {
  if (!c.is_ranked(0)) return Type::unranked(dtype);
  Dims dims = c.dims(0);
  for (auto i = static_cast<size_t>(c.axis(axis, c.rank(0))); i < dims.size(); ++i) dims[i] = 1;
  return Type::tensor(dtype, std::move(dims));
}

void require_stretches(const Inference& c, size_t operand) {
  if (!c.has(operand)) return;
  c.require_same_dtype(0, operand);
  if (!c.is_ranked(0) || !c.is_ranked(operand)) return;
  if (c.rank(operand) > c.rank(0) || !broadcast(c.dims(0), c.dims(operand)))
    c.fail(static_cast<int>(operand), "a shape that stretches to " + to_string(c.dims(0)),
           to_string(c.dims(operand)));
}

// One number per channel, axis 1 of operand 0.
void require_per_channel(const Inference& c, size_t operand) {
  if (!c.is_ranked(0) || !c.is_ranked(operand)) return;
  const Dims &x = c.dims(0), &p = c.dims(operand);
  if (x.size() < 2) c.fail(0, "[batch, channels, ...]", to_string(x));
  bool fits = p.size() == 1 && (!x[1].is_constant() || !p[0].is_constant() || x[1] == p[0]);
  if (!fits) c.fail(static_cast<int>(operand), fmt::format("[{}]", x[1].to_string()), to_string(p));
}

}  // namespace

void softmax_type(Inference& c) {
  if (c.is_ranked(0)) {
    int64_t axis = c.op() == Op::Softmax ? c.attrs<SoftmaxAttrs>().axis : c.attrs<LogSoftmaxAttrs>().axis;
    if (c.rank(0) > 0 || (axis != 0 && axis != -1)) c.axis(axis, c.rank(0));
  }
  c.set(0, c.type(0));
}

void layer_norm_type(Inference& c) {
  const auto& a = c.attrs<LayerNormAttrs>();
  if (!is_floating(a.compute)) c.fail(-1, "compute of a floating type", std::string(to_string(a.compute)));
  require_stretches(c, 1);
  require_stretches(c, 2);
  c.set(0, c.type(0));
  c.set(1, statistics(c, a.axis, a.compute));
  c.set(2, statistics(c, a.axis, a.compute));
}

void rms_norm_type(Inference& c) {
  const auto& a = c.attrs<RmsNormAttrs>();
  if (!is_floating(a.compute)) c.fail(-1, "compute of a floating type", std::string(to_string(a.compute)));
  require_stretches(c, 1);
  c.set(0, c.type(0));
  c.set(1, statistics(c, a.axis, a.compute));
}

// Parameters have the shape of one image, or of its first axes: [channels] as a rule.
void batch_norm_type(Inference& c) {
  for (size_t i = 1; i < 5; ++i) {
    if (!c.is_ranked(0) || !c.is_ranked(i)) continue;
    const Dims &x = c.dims(0), &p = c.dims(i);
    bool fits = !x.empty() && p.size() < x.size();
    for (size_t k = 0; fits && k < p.size(); ++k)
      fits = !p[k].is_constant() || !x[k + 1].is_constant() || p[k] == x[k + 1];
    // A vector without channels is a batch of numbers.
    if (!fits && !(x.size() == 1 && p == Dims{1}))
      c.fail(static_cast<int>(i), "sizes like those after the first of " + to_string(x), to_string(p));
  }
  c.set(0, c.type(0));
}

void instance_norm_type(Inference& c) {
  for (size_t i = 1; i < 3; ++i) {
    c.require_same_dtype(0, i);
    require_per_channel(c, i);
  }
  c.set(0, c.type(0));
}

void group_norm_type(Inference& c) {
  const auto& a = c.attrs<GroupNormAttrs>();
  if (a.groups < 1) c.fail(-1, "groups of at least 1", fmt::format("{}", a.groups));
  for (size_t i = 1; i < 3; ++i) {
    c.require_same_dtype(0, i);
    require_per_channel(c, i);
  }
  if (c.is_ranked(0) && c.dims(0)[1].is_constant() && c.dims(0)[1].constant() % a.groups != 0)
    c.fail(0, fmt::format("channels divisible by {} groups", a.groups), to_string(c.dims(0)));
  c.set(0, c.type(0));
}

void lp_norm_type(Inference& c) {
  const auto& a = c.attrs<LpNormAttrs>();
  if (a.p != 1 && a.p != 2) c.fail(-1, "p of 1 or 2", fmt::format("{}", a.p));
  if (c.is_ranked(0)) c.axis(a.axis, c.rank(0));
  c.set(0, c.type(0));
}

void lrn_type(Inference& c) {
  const auto& a = c.attrs<LrnAttrs>();
  if (a.size < 1) c.fail(-1, "size of at least 1", fmt::format("{}", a.size));
  if (c.is_ranked(0) && c.rank(0) < 2) c.fail(0, "[batch, channels, ...]", to_string(c.dims(0)));
  c.set(0, c.type(0));
}

}  // namespace ingot::rules
