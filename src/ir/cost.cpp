#include "ir/cost.h"

#include "ingot/error.h"
#include "ir/decompose.h"
#include "ir/op_info.h"
#include "ir/rule_helpers.h"

namespace ingot {
namespace {

constexpr int kMaxDepth = 32;  // of decompositions and subgraphs

struct Counter {
  int depth = 0;

  Cost graph(const Graph& g) const;
  Cost node(const Graph& g, const Node& n) const;
  Cost composite(const Graph& g, const Node& n) const;
  Cost subgraphs(const Node& n) const;
};

using rules::product;

// Throws where the rank is unknown; node() turns that into an incomplete cost.
const Dims& dims_of(const Type& type) {
  if (!type.is_ranked()) throw Error({.code = ErrorCode::unsupported, .expected = "a known rank"});
  return *type.dims;
}

Cost multiply_adds(Dim count) { return {.multiply_adds = std::move(count), .other = 0}; }
Cost other(Dim count) { return {.multiply_adds = 0, .other = std::move(count)}; }

void add(Cost& sum, const Cost& part) {
  sum.complete = sum.complete && part.complete;
  try {
    const Dim products = sum.multiply_adds + part.multiply_adds, others = sum.other + part.other;
    sum.multiply_adds = products;
    sum.other = others;
  } catch (const Error&) {  // an expression with too many terms, or beyond 64 bits
    sum.complete = false;
  }
}

// Multiply-adds of the contractions; every product contributes to one output element.
std::optional<Cost> contraction_cost(const Graph& g, const Node& n) {
  const auto operand = [&](size_t i) -> const Dims& { return dims_of(g.type(n.operands.at(i))); };
  switch (n.op) {
    case Op::MatMul: {
      const Dims& a = operand(0);
      return multiply_adds(a.empty() ? Dim(1) : product(dims_of(n.types[0])) * a.back());
    }
    case Op::Gemm: {
      const Dims& a = operand(0);
      return multiply_adds(product(dims_of(n.types[0])) * a.at(n.as<GemmAttrs>().transpose_a ? 0 : 1));
    }
    // Weights [output channels, input channels / groups, kernel ...].
    case Op::Conv:
    case Op::DeformConv: return multiply_adds(product(dims_of(n.types[0])) * product(operand(1), 1));
    // Weights [input channels, output channels / groups, kernel ...]: each input element meets all of its
    // row.
    case Op::ConvTranspose: return multiply_adds(product(operand(0)) * product(operand(1), 1));
    default: return std::nullopt;
  }
}

Cost Counter::composite(const Graph& g, const Node& n) const {
  GraphBuilder scratch;
  std::vector<Value> operands;
  for (size_t i = 0; i < n.operands.size(); ++i) {
    if (n.operands[i].is_none()) {
      operands.emplace_back();
      continue;
    }
    const Node& source = g.node(n.operands[i]);
    dims_of(g.type(n.operands[i]));
    operands.push_back(source.op == Op::Constant && source.as<ConstantAttrs>().value.count() <= 64
                           ? scratch.constant(source.as<ConstantAttrs>().value)
                           : scratch.input("x" + std::to_string(i), g.type(n.operands[i])));
  }
  for (const Value v : find_decomposition(n.op)(scratch, n, operands))
    if (!v.is_none()) scratch.output("y" + std::to_string(v.node) + "." + std::to_string(v.output), v);
  return Counter{depth + 1}.graph(std::move(scratch).finish());
}

Cost Counter::subgraphs(const Node& n) const {
  Cost most;
  for (const GraphPtr& body : n.subgraphs) {
    const Cost cost = Counter{depth + 1}.graph(*body);
    const bool more = cost.multiply_adds.low() > most.multiply_adds.low() ||
                      (cost.multiply_adds == most.multiply_adds && cost.other.low() > most.other.low());
    const bool complete = cost.complete && most.complete;
    if (more || body == n.subgraphs.front()) most = cost;
    most.complete = complete;
  }
  return most;
}

Cost Counter::node(const Graph& g, const Node& n) const {
  const OpInfo& info = op_info(n.op);
  if (depth > kMaxDepth) return {.complete = false};
  try {
    if (!n.subgraphs.empty()) return subgraphs(n);
    if (auto cost = contraction_cost(g, n)) return *cost;
    if (info.is(Composite) && find_decomposition(n.op) != nullptr) return composite(g, n);
    if (info.is(Pointwise)) return other(product(dims_of(n.types[0])));
    if (info.is(Reduces) || info.is(RowWise)) return other(product(dims_of(g.type(n.operands.at(0)))));
  } catch (const Error&) {
    return {.complete = false};
  }
  return {};
}

Cost Counter::graph(const Graph& g) const {
  Cost sum;
  for (const Node& n : g.nodes()) add(sum, node(g, n));
  return sum;
}

bool is_parameter(const Tensor& t) {
  const DType d = t.dtype();
  return t.count() > 1 && (is_floating(d) || (is_integer(d) && bit_width(d) <= 8));
}

}  // namespace

Cost node_cost(const Graph& graph, const Node& node) { return Counter{}.node(graph, node); }
Cost graph_cost(const Graph& graph) { return Counter{}.graph(graph); }

int64_t parameter_count(const Graph& graph) {
  int64_t count = 0;
  for (const Node& n : graph.nodes()) {
    if (n.op == Op::Constant && is_parameter(n.as<ConstantAttrs>().value))
      count += n.as<ConstantAttrs>().value.count();
    for (const GraphPtr& body : n.subgraphs) count += parameter_count(*body);
  }
  return count;
}

}  // namespace ingot
