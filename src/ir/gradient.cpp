#include "ir/gradient.h"

#include <map>
#include <set>

#include "ingot/error.h"
#include "ir/op_info.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

[[noreturn]] void fail(const Node& node, std::string observed) {
  throw Error({.code = ErrorCode::unsupported,
               .object = "gradient of",
               .name = fmt::format("{} ({})", node.origin, to_string(node.op)),
               .expected = "an op with a derivative rule on operands of one shape",
               .observed = std::move(observed)});
}

Value filled_like(GraphBuilder& g, Value like, double value) {
  return g.broadcast_to(scalar_like(g, like, value), g.shape_of(like));
}

class Accumulation {
 public:
  Accumulation(GraphBuilder& g, std::span<const Value> xs) : g_(g), xs_(xs) {}

  std::vector<Value> run(Value y) {
    mark_dependent(y);
    derivatives_[y] = filled_like(g_, y, 1);
    for (int32_t i = y.node; i >= 0; --i)
      if (auto found = derivatives_.find({i, 0}); found != derivatives_.end() && dependent_.contains(i))
        propagate({i, 0}, found->second);
    std::vector<Value> out;
    for (Value x : xs_) {
      auto found = derivatives_.find(x);
      out.push_back(found != derivatives_.end() ? found->second : filled_like(g_, x, 0));
    }
    return out;
  }

 private:
  // Nodes up to y that depend on one of xs; the others need no rule.
  void mark_dependent(Value y) {
    for (int32_t i = 0; i <= y.node; ++i)
      for (Value v : g_.node({i, 0}).operands)
        if (std::ranges::find(xs_, v) != xs_.end() || dependent_.contains(v.node)) dependent_.insert(i);
  }

  void propagate(Value output, Value d) {
    const Node node = g_.node(output);  // a copy: adding nodes moves them
    std::vector<Value> parts = rule(node, output, d);
    for (size_t i = 0; i < parts.size(); ++i) {
      Value operand = node.operands[i];
      if (g_.type(operand) != g_.type(parts[i])) fail(node, "operands that broadcast");
      auto [at, added] = derivatives_.emplace(operand, parts[i]);
      if (!added) at->second = g_.add(at->second, parts[i]);
    }
  }

  // The derivative with respect to each operand, given that of the output.
  std::vector<Value> rule(const Node& node, Value y, Value d) {
    const auto& in = node.operands;
    switch (node.op) {
      case Op::Add: return {d, d};
      case Op::Sub: return {d, g_.neg(d)};
      case Op::Mul: {
        Value left = g_.mul(d, in[1]);
        return {left, g_.mul(d, in[0])};
      }
      case Op::Div: {
        Value left = g_.div(d, in[1]);
        return {left, g_.neg(g_.div(g_.mul(left, in[0]), in[1]))};
      }
      case Op::Neg: return {g_.neg(d)};
      case Op::Exp: return {g_.mul(d, y)};
      case Op::Log: return {g_.div(d, in[0])};
      case Op::Sqrt: return {g_.div(g_.mul(d, scalar_like(g_, d, 0.5)), y)};
      case Op::Tanh: return {g_.sub(d, g_.mul(d, g_.mul(y, y)))};
      case Op::Sigmoid: return {g_.mul(d, g_.sub(y, g_.mul(y, y)))};
      default: fail(node, "none");
    }
  }

  GraphBuilder& g_;
  std::span<const Value> xs_;
  std::set<int32_t> dependent_;
  std::map<Value, Value> derivatives_;
};

}  // namespace

std::vector<Value> gradients(GraphBuilder& g, Value y, std::span<const Value> xs) {
  return Accumulation(g, xs).run(y);
}

}  // namespace ingot
