#include "passes/canonicalise.h"

#include <numeric>

#include "ir/numeric.h"
#include "ir/op_info.h"
#include "passes/rewrite.h"

namespace ingot {
namespace {

using Result = std::optional<std::vector<Value>>;
using Operands = std::span<const Value>;

Result same(Value v) { return std::vector<Value>{v}; }

std::vector<int64_t> full_permutation(const TransposeAttrs& attrs, int64_t rank) {
  if (!attrs.permutation.empty()) {
    std::vector<int64_t> out = attrs.permutation;
    for (int64_t& axis : out)
      if (axis < 0) axis += rank;
    return out;
  }
  std::vector<int64_t> out(static_cast<size_t>(rank));
  std::iota(out.rbegin(), out.rend(), 0);
  return out;
}

Result simplify_transpose(Rewriter& r, const Node& node, Operands in) {
  if (!r.g().is_ranked(in[0])) return std::nullopt;
  auto outer = full_permutation(node.as<TransposeAttrs>(), r.g().rank(in[0]));
  if (std::ranges::is_sorted(outer)) return same(in[0]);
  if (!r.is(in[0], Op::Transpose)) return std::nullopt;
  const Node& first = r.producer(in[0]);
  auto inner = full_permutation(first.as<TransposeAttrs>(), r.g().rank(in[0]));
  std::vector<int64_t> both;
  for (int64_t axis : outer) both.push_back(inner[static_cast<size_t>(axis)]);
  Value source = first.operands[0];
  if (std::ranges::is_sorted(both)) return same(source);
  return same(r.g().transpose(source, {.permutation = both}));
}

// A second reshape that names every size makes the first one needless.
Result simplify_reshape(Rewriter& r, const Node& node, Operands in) {
  GraphBuilder& g = r.g();
  if (!r.is(in[0], Op::Reshape)) {
    Value kept = g.reshape(in[0], in[1], node.as<ReshapeAttrs>());
    bool unchanged = g.is_ranked(in[0]) && g.is_ranked(kept) && g.dims(in[0]) == g.dims(kept);
    return same(unchanged ? in[0] : kept);
  }
  auto sizes = g.known_values(in[1]);
  bool copies = !sizes || std::ranges::any_of(*sizes, [](const Dim& d) { return d == Dim(0); });
  if (copies) return std::nullopt;
  return same(g.reshape(r.producer(in[0]).operands[0], in[1], node.as<ReshapeAttrs>()));
}

Result simplify_cast(Rewriter& r, const Node& node, Operands in) {
  if (r.g().dtype(in[0]) == node.as<CastAttrs>().to) return same(in[0]);
  return std::nullopt;
}

Result simplify_concat(Rewriter& r, const Node& node, Operands in) {
  if (in.size() == 1) return same(in[0]);
  auto axis = node.as<ConcatAttrs>().axis;
  std::vector<Value> parts;
  for (Value v : in) {
    bool nested = r.is(v, Op::Concat) && r.producer(v).as<ConcatAttrs>().axis == axis;
    if (!nested)
      parts.push_back(v);
    else
      parts.insert(parts.end(), r.producer(v).operands.begin(), r.producer(v).operands.end());
  }
  if (parts.size() == in.size()) return std::nullopt;
  return same(r.g().concat(parts, {.axis = axis}));
}

// Whether v is a constant of one element with this value.
bool is_scalar(Rewriter& r, Value v, double wanted) {
  auto constant = r.constant(v);
  if (!constant || constant->count() != 1 || constant->is_string()) return false;
  double value = 0;
  decode_to_f64(constant->dtype(), constant->bytes().data(), 1, &value);
  return value == wanted;
}

// x * 1 and x / 1 are x, bit for bit, where the other operand does not widen the shape.
Result simplify_by_one(Rewriter& r, const Node&, Operands in) {
  if (!is_scalar(r, in[1], 1) || !r.g().is_ranked(in[0])) return std::nullopt;
  if (r.g().rank(in[1]) > r.g().rank(in[0])) return std::nullopt;
  return same(in[0]);
}

Result order_operands(Rewriter& r, const Node& node, Operands in) {
  if (!r.is(in[0], Op::Constant) || r.is(in[1], Op::Constant)) return std::nullopt;
  return r.g().add(node.attrs, {in[1], in[0]});
}

Result simplify_select(Rewriter& r, const Node& node, Operands in) {
  auto condition = r.constant(in[0]);
  if (!condition || condition->count() != 1) return std::nullopt;
  Value chosen = condition->data<bool>()[0] ? in[1] : in[2];
  return r.g().type(chosen) == node.types[0] ? same(chosen) : std::nullopt;
}

Result simplify(Rewriter& r, const Node& node, Operands in) {
  switch (node.op) {
    case Op::Transpose: return simplify_transpose(r, node, in);
    case Op::Reshape: return simplify_reshape(r, node, in);
    case Op::Cast: return simplify_cast(r, node, in);
    case Op::Concat: return simplify_concat(r, node, in);
    case Op::Select: return simplify_select(r, node, in);
    case Op::Div: return simplify_by_one(r, node, in);
    case Op::Mul: {
      if (auto done = simplify_by_one(r, node, in)) return done;
      return order_operands(r, node, in);
    }
    default: return op_info(node.op).is(Commutative) ? order_operands(r, node, in) : std::nullopt;
  }
}

}  // namespace

Graph canonicalise(const Graph& graph) { return rewrite(graph, simplify); }

}  // namespace ingot
