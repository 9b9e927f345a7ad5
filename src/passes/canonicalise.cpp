#include "passes/canonicalise.h"

#include <limits>

#include "ir/numeric.h"
#include "ir/op_info.h"
#include "passes/canonicalise_rules.h"

namespace ingot {
namespace {

Rewritten simplify_cast(Rewriter& r, const Node& node, Operands in) {
  if (r.g().dtype(in[0]) == node.as<CastAttrs>().to) return same(in[0]);
  return std::nullopt;
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
Rewritten simplify_by_one(Rewriter& r, const Node&, Operands in) {
  if (!is_scalar(r, in[1], 1) || !r.g().is_ranked(in[0])) return std::nullopt;
  if (r.g().rank(in[1]) > r.g().rank(in[0])) return std::nullopt;
  return same(in[0]);
}

Rewritten order_operands(Rewriter& r, const Node& node, Operands in) {
  if (!r.is(in[0], Op::Constant) || r.is(in[1], Op::Constant)) return std::nullopt;
  return r.g().add(node.attrs, {in[1], in[0]});
}

// The larger of x and -infinity, or the smaller of x and infinity, is x.
Rewritten simplify_bound(Rewriter& r, const Node& node, Operands in) {
  for (size_t i : {0, 1}) {
    Value x = in[i], bound = in[1 - i];
    double none = node.op == Op::Max ? -std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<double>::infinity();
    bool same_rank = r.g().is_ranked(x) && r.g().rank(bound) <= r.g().rank(x);
    if (same_rank && is_scalar(r, bound, none)) return same(x);
  }
  return order_operands(r, node, in);
}

Rewritten simplify_select(Rewriter& r, const Node& node, Operands in) {
  auto condition = r.constant(in[0]);
  if (!condition || condition->count() != 1) return std::nullopt;
  Value chosen = condition->data<bool>()[0] ? in[1] : in[2];
  return r.g().type(chosen) == node.types[0] ? same(chosen) : std::nullopt;
}

Rewritten simplify(Rewriter& r, const Node& node, Operands in) {
  switch (node.op) {
    case Op::Cast: return simplify_cast(r, node, in);
    case Op::Select: return simplify_select(r, node, in);
    case Op::Max:
    case Op::Min: return simplify_bound(r, node, in);
    case Op::Div: return simplify_by_one(r, node, in);
    case Op::Mul: {
      if (auto done = simplify_by_one(r, node, in)) return done;
      return order_operands(r, node, in);
    }
    default: break;
  }
  if (op_info(node.op).is(Movement)) return canonicalise_movement(r, node, in);
  return op_info(node.op).is(Commutative) ? order_operands(r, node, in) : std::nullopt;
}

}  // namespace

Graph canonicalise(const Graph& graph) { return rewrite(graph, simplify); }

}  // namespace ingot
