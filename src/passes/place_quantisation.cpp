#include "passes/place_quantisation.h"

#include "ir/numeric.h"
#include "ir/op_info.h"
#include "passes/match.h"

namespace ingot {
namespace {

using Result = std::optional<std::vector<Value>>;
using Operands = std::span<const Value>;

std::optional<double> scalar(const GraphBuilder& g, Value v) {
  auto t = g.constant_value(v);
  if (!t || t->count() != 1) return std::nullopt;
  double value = 0;
  decode_to_f64(t->dtype(), t->bytes().data(), 1, &value);
  return value;
}

// Far from the ends of f32, where a product with 255 steps is neither lost nor infinite.
bool is_ordinary(double scale) { return scale > 1e-30 && scale < 1e30; }

// One scale, known and positive, for the whole tensor. Then the op treats each element by itself.
bool is_uniform(const GraphBuilder& g, const Attrs& attrs, std::span<const Value> operands) {
  int64_t block = attrs.op() == Op::Quantize ? attrs.as<QuantizeAttrs>().block_size
                                             : attrs.as<DequantizeAttrs>().block_size;
  auto scale = scalar(g, operands[1]);
  bool one_zero = operands.size() < 3 || scalar(g, operands[2]);
  return block == 0 && scale && is_ordinary(*scale) && one_zero;
}

bool is_regrouping(Op op) {
  return op == Op::Reshape || op == Op::Squeeze || op == Op::Unsqueeze || op == Op::Transpose;
}
// Ops that move elements of their first operand, whatever they are: those with no more results than elements
// are better done first, those with no fewer last. Pads bring a value of their own.
bool comes_first(Op op) { return is_regrouping(op) || op == Op::Slice || op == Op::Gather; }
bool comes_last(Op op) { return is_regrouping(op) || op == Op::BroadcastTo || op == Op::Tile; }

std::vector<Value> with_first(std::vector<Value> operands, Value first) {
  operands[0] = first;
  return operands;
}

// op(dequantize(x)) = dequantize(op(x)) where op only moves elements.
Result sink_dequantize(Rewriter& r, const Node& node, Operands in) {
  if (!comes_first(node.op) || !r.is(in[0], Op::Dequantize)) return std::nullopt;
  Node dequantize = r.producer(in[0]);
  if (!is_uniform(r.g(), dequantize.attrs, dequantize.operands) ||
      is_sub_byte(r.g().dtype(dequantize.operands[0])))
    return std::nullopt;
  Value moved = r.g().add(node.attrs, with_first({in.begin(), in.end()}, dequantize.operands[0]))[0];
  return r.g().add(dequantize.attrs, with_first(dequantize.operands, moved));
}

// The largest of dequantized numbers is the dequantized largest, since the scale is positive. The second
// result, positions, is of no concern to either.
Result sink_below_max_pool(Rewriter& r, const Node& node, Operands in) {
  if (node.op != Op::MaxPool || !r.is(in[0], Op::Dequantize)) return std::nullopt;
  // Only then does every window see an element.
  if (std::ranges::any_of(node.as<MaxPoolAttrs>().dilations, [](int64_t d) { return d != 1; }))
    return std::nullopt;
  Node dequantize = r.producer(in[0]);
  DType stored = r.g().dtype(dequantize.operands[0]);
  bool bytes = stored == DType::i8 || stored == DType::u8;
  if (!bytes || r.g().dtype(in[0]) != DType::f32 || !is_uniform(r.g(), dequantize.attrs, dequantize.operands))
    return std::nullopt;
  auto pooled = r.g().add(node.attrs, {dequantize.operands[0]});
  return std::vector<Value>{r.g().add(dequantize.attrs, with_first(dequantize.operands, pooled[0]))[0],
                            pooled[1]};
}

bool same_constant(const GraphBuilder& g, std::span<const Value> a, std::span<const Value> b, size_t i) {
  Value x = i < a.size() ? a[i] : Value(), y = i < b.size() ? b[i] : Value();
  if (x == y) return true;
  auto p = g.constant_value(x), q = g.constant_value(y);
  return p && q && p->identical(*q);
}

// quantize(dequantize(x)) = x for 8 bits in f32: (x - z) * s / s is off by less than half a step.
Result cancel(Rewriter& r, const Node& node, Operands in) {
  if (!r.is(in[0], Op::Dequantize)) return std::nullopt;
  GraphBuilder& g = r.g();
  const Node& inner = r.producer(in[0]);
  const auto& a = node.as<QuantizeAttrs>();
  bool bytes = a.to == DType::i8 || a.to == DType::u8;
  bool fits = bytes && g.dtype(inner.operands[0]) == a.to && g.dtype(in[0]) == DType::f32 &&
              a.precision == DType::f32 && is_uniform(g, inner.attrs, inner.operands);
  if (!fits || !same_constant(g, in, inner.operands, 1) || !same_constant(g, in, inner.operands, 2))
    return std::nullopt;
  return std::vector<Value>{inner.operands[0]};
}

// quantize(op(x)) = op(quantize(x)) where op only moves elements and nobody else reads it. `old` is x before
// the pass.
Value raise_quantize(Rewriter& r, const Match& m, const Node& node, Operands in, Value x, Value old) {
  Node movement = r.producer(x);
  bool rises = comes_last(movement.op) && m.node(old).op == movement.op && m.has_one_reader(old);
  if (!rises) return r.g().add(node.attrs, with_first({in.begin(), in.end()}, x))[0];
  Value below = raise_quantize(r, m, node, in, movement.operands[0], m.operand(old));
  return r.g().add(movement.attrs, with_first(movement.operands, below))[0];
}

Result place_quantize(Rewriter& r, const Match& m, const Node& node, Operands in) {
  if (auto done = cancel(r, node, in)) return done;
  if (is_sub_byte(node.types[0].dtype) || !is_uniform(r.g(), node.attrs, in)) return std::nullopt;
  return std::vector<Value>{raise_quantize(r, m, node, in, in[0], node.operands[0])};
}

// A dequantize that others read too is computed again for this contraction.
Result give_own_dequantize(Rewriter& r, const Match& m, const Node& node, Operands in) {
  if (!op_info(node.op).is(Contraction) || node.types.size() != 1) return std::nullopt;
  std::vector<Value> operands(in.begin(), in.end());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!r.is(operands[i], Op::Dequantize) || m.has_one_reader(node.operands[i])) continue;
    Node dequantize = r.producer(operands[i]);
    operands[i] = r.g().add(dequantize.attrs, dequantize.operands)[0];
  }
  bool changed = !std::ranges::equal(operands, in);
  return changed ? Result(r.g().add(node.attrs, operands)) : std::nullopt;
}

}  // namespace

Graph place_quantisation(const Graph& graph) {
  std::map<const Graph*, Match> matches;
  return rewrite(graph, [&](Rewriter& r, const Node& node, Operands in) -> Result {
    const Match& m = matches.try_emplace(&r.old(), r.old()).first->second;
    if (node.op == Op::Quantize) return place_quantize(r, m, node, in);
    if (auto done = sink_dequantize(r, node, in)) return done;
    if (auto done = sink_below_max_pool(r, node, in)) return done;
    return give_own_dequantize(r, m, node, in);
  });
}

}  // namespace ingot
