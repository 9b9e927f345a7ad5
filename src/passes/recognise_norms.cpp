#include "passes/recognise_norms.h"

#include <numeric>

#include "ir/inference.h"
#include "ir/small_constants.h"
#include "passes/match.h"

namespace ingot {
namespace {

using Found = std::optional<Value>;

DType compute_type(DType x) { return x == DType::f64 ? DType::f64 : DType::f32; }

// The first of the axes, if they are the last ones of x.
std::optional<int64_t> last_axes(const Match& m, const Match::Reduction& over) {
  std::vector<int64_t> wanted(over.axes.size());
  std::iota(wanted.begin(), wanted.end(), m.rank(over.x) - static_cast<int64_t>(wanted.size()));
  return over.axes == wanted ? std::optional(wanted[0]) : std::nullopt;
}

// v = mean(x^2), written as a product or a power.
std::optional<Match::Reduction> mean_of_squares(const Match& m, Value v) {
  auto mean = m.reduction(v, Op::ReduceMean);
  if (!mean) return std::nullopt;
  auto [factor, values] = m.product(mean->x);
  if (factor != 1 || values.size() != 2 || values[0] != values[1]) return std::nullopt;
  return Match::Reduction{values[0], mean->axes};
}

// x / sqrt(mean(y^2) + epsilon).
struct Normalised {
  Value x;
  Match::Reduction squares;  // over y
  double epsilon;
};

std::optional<Normalised> below_root(const Match& m, Value x, Value mean_square) {
  auto [mean, epsilon] = m.shifted(mean_square);
  auto squares = mean_of_squares(m, mean);
  if (!squares || epsilon < 0) return std::nullopt;
  return Normalised{x, *squares, epsilon};
}

// v = sqrt(w) gives w; pow(w, 0.5) too.
std::optional<Value> radicand(const Match& m, Value v) {
  if (m.is(v, Op::Sqrt)) return m.operand(v);
  if (m.is(v, Op::Pow) && m.is_scalar(m.operand(v, 1), 0.5)) return m.operand(v);
  return std::nullopt;
}

// v = 1 / sqrt(w) gives w.
std::optional<Value> inverse_radicand(const Match& m, Value v) {
  if (m.is(v, Op::Reciprocal)) return radicand(m, m.operand(v));
  if (m.is(v, Op::Div) && m.is_scalar(m.operand(v, 0), 1)) return radicand(m, m.operand(v, 1));
  if (m.is(v, Op::Pow) && m.is_scalar(m.operand(v, 1), -0.5)) return m.operand(v);
  return std::nullopt;
}

std::optional<Normalised> normalised(const Match& m, Value result) {
  if (auto parts = m.binary(result, Op::Div)) {
    auto root = radicand(m, parts->b);
    return root ? below_root(m, parts->a, *root) : std::nullopt;
  }
  auto parts = m.binary(result, Op::Mul);
  if (!parts) return std::nullopt;
  for (auto [x, factor] : {*parts, Match::Pair{parts->b, parts->a}})
    if (auto root = inverse_radicand(m, factor))
      if (auto found = below_root(m, x, *root)) return found;
  return std::nullopt;
}

// v = x - mean(x) over these axes.
std::optional<Value> centred_source(const Match& m, Value v, const std::vector<int64_t>& axes) {
  auto parts = m.binary(v, Op::Sub);
  auto mean = parts ? m.reduction(parts->b, Op::ReduceMean) : std::nullopt;
  return mean && mean->x == parts->a && mean->axes == axes ? std::optional(parts->a) : std::nullopt;
}

Found layer_norm(Rewriter& r, const Match& m, Value result) {
  auto n = normalised(m, result);
  if (!n || n->squares.x != n->x) return std::nullopt;
  auto x = centred_source(m, n->x, n->squares.axes);
  auto axis = last_axes(m, n->squares);
  if (!x || !axis || !m.is_private(result, std::span(&*x, 1))) return std::nullopt;
  Value one = scalar(r.g(), m.dtype(*x), 1);
  LayerNormAttrs attrs{.axis = *axis, .epsilon = n->epsilon, .compute = compute_type(m.dtype(*x))};
  return r.g().layer_norm(r.mapped(*x), one, {}, attrs)[0];
}

// Whether a parameter stretches over the last axes of x, from `axis` on, and no further.
bool fits_rows(const GraphBuilder& g, Value parameter, Value x, int64_t axis) {
  if (!g.is_ranked(parameter) || !g.is_ranked(x)) return false;
  const Dims &p = g.dims(parameter), &d = g.dims(x);
  if (axis < 0) axis += static_cast<int64_t>(d.size());
  if (p.size() > d.size() || g.dtype(parameter) != g.dtype(x)) return false;
  for (size_t i = 0; i < p.size(); ++i) {
    size_t at = d.size() - p.size() + i;
    bool one = p[i] == Dim(1), row = static_cast<int64_t>(at) >= axis && p[i] == d[at];
    if (!one && !row) return false;
  }
  return true;
}

// centred * (scale / sqrt(variance + epsilon)), where TensorFlow multiplies the parameters first.
Found layer_norm_with_scale(Rewriter& r, const Match& m, Value result) {
  auto product = m.binary(result, Op::Mul);
  auto factor = product ? m.binary(product->b, Op::Mul) : std::nullopt;
  auto root = factor ? inverse_radicand(m, factor->a) : std::nullopt;
  auto n = root ? below_root(m, product->a, *root) : std::nullopt;
  if (!n || n->squares.x != n->x) return std::nullopt;
  auto x = centred_source(m, n->x, n->squares.axes);
  auto axis = last_axes(m, n->squares);
  if (!x || !axis || !fits_rows(r.g(), r.mapped(factor->b), r.mapped(*x), *axis)) return std::nullopt;
  const Value leaves[] = {*x, factor->b};
  if (!m.is_private(result, leaves)) return std::nullopt;
  LayerNormAttrs attrs{.axis = *axis, .epsilon = n->epsilon, .compute = compute_type(m.dtype(*x))};
  return r.g().layer_norm(r.mapped(*x), r.mapped(factor->b), {}, attrs)[0];
}

// x * f + (bias - mean * f) with f = scale / sqrt(variance + epsilon), as TensorFlow writes it.
Found folded_layer_norm(Rewriter& r, const Match& m, Value result) {
  auto sum = m.binary(result, Op::Add);
  auto product = sum ? m.binary(sum->a, Op::Mul) : std::nullopt;
  auto rest = sum ? m.binary(sum->b, Op::Sub) : std::nullopt;
  auto drift = rest ? m.binary(rest->b, Op::Mul) : std::nullopt;
  auto factor = product ? m.binary(product->b, Op::Mul) : std::nullopt;
  if (!drift || !factor || drift->b != product->b) return std::nullopt;
  auto root = inverse_radicand(m, factor->a);
  auto n = root ? below_root(m, product->a, *root) : std::nullopt;
  auto axis = n ? last_axes(m, n->squares) : std::nullopt;
  if (!axis || centred_source(m, n->squares.x, n->squares.axes) != n->x) return std::nullopt;
  if (m.operand(n->squares.x, 1) != drift->a) return std::nullopt;
  Value x = r.mapped(n->x), scale = r.mapped(factor->b), bias = r.mapped(rest->a);
  bool fits = fits_rows(r.g(), scale, x, *axis) && fits_rows(r.g(), bias, x, *axis);
  const Value leaves[] = {n->x, factor->b, rest->a};
  if (!fits || !m.is_private(result, leaves)) return std::nullopt;
  LayerNormAttrs attrs{.axis = *axis, .epsilon = n->epsilon, .compute = compute_type(m.dtype(n->x))};
  return r.g().layer_norm(x, scale, bias, attrs)[0];
}

Found rms_norm(Rewriter& r, const Match& m, Value result) {
  auto n = normalised(m, result);
  if (!n || n->squares.x != n->x) return std::nullopt;
  auto axis = last_axes(m, n->squares);
  if (!axis || !m.is_private(result, std::span(&n->x, 1))) return std::nullopt;
  Value one = scalar(r.g(), m.dtype(n->x), 1);
  RmsNormAttrs attrs{.axis = *axis, .epsilon = n->epsilon, .compute = compute_type(m.dtype(n->x))};
  return r.g().rms_norm(r.mapped(n->x), one, attrs)[0];
}

bool is_one(const GraphBuilder& g, Value v) {
  auto constant = g.constant_value(v);
  return constant && constant->identical(scalar(g.dtype(v), 1));
}

Value drop_leading_ones(GraphBuilder& g, Value parameter, int64_t rank) {
  Shape shape;
  auto constant = g.constant_value(parameter);
  if (!constant || constant->rank() <= rank) return parameter;
  shape.assign(constant->shape().end() - rank, constant->shape().end());
  return g.constant(constant->reshaped(std::move(shape)));
}

// A product with a norm that has no scale yet gives it one.
Found take_scale(Rewriter& r, const Match& m, Value result) {
  GraphBuilder& g = r.g();
  auto parts = m.binary(result, Op::Mul);
  if (!parts) return std::nullopt;
  for (auto [norm, scale] : {*parts, Match::Pair{parts->b, parts->a}}) {
    Value v = r.mapped(norm), s = r.mapped(scale);
    bool layer = r.is(v, Op::LayerNorm), rms = r.is(v, Op::RmsNorm);
    if ((!layer && !rms) || v.output != 0 || !m.has_one_reader(norm)) continue;
    Node n = r.producer(v);
    int64_t axis = layer ? n.as<LayerNormAttrs>().axis : n.as<RmsNormAttrs>().axis;
    if (!is_one(g, n.operands[1]) || n.operands.size() > 2 || !fits_rows(g, s, v, axis)) continue;
    s = drop_leading_ones(g, s, axis < 0 ? -axis : g.rank(v) - axis);
    return g.add(n.attrs, {n.operands[0], s})[0];
  }
  return std::nullopt;
}

// A sum with a layer norm that has no bias yet gives it one.
Found take_bias(Rewriter& r, const Match& m, Value result) {
  auto parts = m.binary(result, Op::Add);
  if (!parts) return std::nullopt;
  for (auto [norm, bias] : {*parts, Match::Pair{parts->b, parts->a}}) {
    Value v = r.mapped(norm), b = r.mapped(bias);
    if (!r.is(v, Op::LayerNorm) || v.output != 0 || !m.has_one_reader(norm)) continue;
    Node n = r.producer(v);
    int64_t axis = n.as<LayerNormAttrs>().axis;
    if (n.operands.size() > 2 || !fits_rows(r.g(), b, v, axis)) continue;
    b = drop_leading_ones(r.g(), b, axis < 0 ? -axis : r.g().rank(v) - axis);
    return r.g().add(n.attrs, {n.operands[0], n.operands[1], b})[0];
  }
  return std::nullopt;
}

// cast(norm(cast(x, f32))) back to the type of x: a norm of x that computes in f32, as it does anyway.
Found take_casts(Rewriter& r, const Match& m, Value result) {
  if (!m.is(result, Op::Cast) || !m.has_one_reader(m.operand(result))) return std::nullopt;
  Value v = r.mapped(m.operand(result));
  if ((!r.is(v, Op::LayerNorm) && !r.is(v, Op::RmsNorm)) || v.output != 0 || r.g().dtype(v) != DType::f32)
    return std::nullopt;
  Node n = r.producer(v);
  if (n.operands.size() > 2 || !is_one(r.g(), n.operands[1]) || !r.is(n.operands[0], Op::Cast))
    return std::nullopt;
  Value x = r.producer(n.operands[0]).operands[0];
  if (r.g().dtype(x) != m.dtype(result) || !is_floating(m.dtype(result))) return std::nullopt;
  return r.g().add(n.attrs, {x, scalar(r.g(), r.g().dtype(x), 1)})[0];
}

}  // namespace

Graph recognise_norms(const Graph& graph) {
  constexpr Recogniser all[] = {
      layer_norm, layer_norm_with_scale, folded_layer_norm, rms_norm, take_scale, take_bias, take_casts};
  return recognise(graph, all);
}

}  // namespace ingot
