#include "passes/match.h"

#include <cmath>
#include <set>

#include "ir/numeric.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

constexpr int kLargestPower = 4;
constexpr size_t kLargestPattern = 64;

// Relative distance at which two numbers of a type are the same constant in the eyes of an exporter.
double rounding(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-9;
    case DType::f32: return 1e-6;
    case DType::f16: return 1e-3;
    default: return 8e-3;
  }
}

template <class A>
bool keeps_dims(const Node& node) {
  return node.as<A>().keep_dims;
}

bool keeps_dims(const Node& node) {
  switch (node.op) {
    case Op::ReduceSum: return keeps_dims<ReduceSumAttrs>(node);
    case Op::ReduceMean: return keeps_dims<ReduceMeanAttrs>(node);
    case Op::ReduceMax: return keeps_dims<ReduceMaxAttrs>(node);
    default: return false;
  }
}

}  // namespace

Match::Match(const Graph& graph) : graph_(graph), readers_(graph.nodes().size()) {
  for (size_t i = 0; i < graph.nodes().size(); ++i)
    for (Value v : graph.nodes()[i].operands)
      if (!v.is_none()) readers_[static_cast<size_t>(v.node)].push_back(static_cast<int32_t>(i));
  for (const Port& p : graph.outputs()) readers_[static_cast<size_t>(p.value.node)].push_back(-1);
}

std::optional<double> Match::scalar(Value v) const {
  if (!is(v, Op::Constant)) return std::nullopt;
  const Tensor& t = node(v).as<ConstantAttrs>().value;
  if (t.count() != 1 || t.is_string()) return std::nullopt;
  double value = 0;
  decode_to_f64(t.dtype(), t.bytes().data(), 1, &value);
  return value;
}

bool Match::close(Value like, double a, double b) const {
  return a == b || std::fabs(a - b) <= rounding(dtype(like)) * std::fabs(b);
}

bool Match::is_scalar(Value v, double wanted) const {
  auto value = scalar(v);
  return value && close(v, *value, wanted);
}

std::optional<std::vector<int64_t>> Match::integers(Value v) const {
  if (!is(v, Op::Constant) || dtype(v) != DType::i64) return std::nullopt;
  Tensor t = node(v).as<ConstantAttrs>().value.aligned();
  return std::vector<int64_t>(t.data<int64_t>().begin(), t.data<int64_t>().end());
}

std::optional<Match::Pair> Match::binary(Value v, Op op) const {
  if (!is(v, op)) return std::nullopt;
  return Pair{operand(v, 0), operand(v, 1)};
}

int Match::small_power(Value v) const {
  double power = is(v, Op::Pow) ? scalar(operand(v, 1)).value_or(0) : 0;
  bool whole = power == std::floor(power) && power >= 1 && power <= kLargestPower;
  return whole ? static_cast<int>(power) : 0;
}

Match::Product Match::product(Value v) const {
  Product out;
  std::vector<Value> open = {v};
  for (size_t steps = 0; !open.empty() && steps < kLargestPattern; ++steps) {
    Value next = open.back();
    open.pop_back();
    if (auto number = scalar(next)) {
      out.factor *= *number;
    } else if (is(next, Op::Mul)) {
      open.insert(open.end(), {operand(next, 0), operand(next, 1)});
    } else if (is(next, Op::Neg)) {
      out.factor = -out.factor;
      open.push_back(operand(next));
    } else if (auto divisor = is(next, Op::Div) ? scalar(operand(next, 1)) : std::nullopt) {
      out.factor /= *divisor;
      open.push_back(operand(next));
    } else if (auto [x, term] = shifted(next); x != next && term == 0) {
      open.push_back(x);
    } else if (int power = small_power(next); power > 0) {
      open.insert(open.end(), static_cast<size_t>(power), operand(next));
    } else {
      out.values.push_back(next);
    }
  }
  out.values.insert(out.values.end(), open.begin(), open.end());
  return out;
}

Match::Shifted Match::shifted(Value v) const {
  for (Op op : {Op::Add, Op::Sub}) {
    auto parts = binary(v, op);
    auto number = parts ? scalar(parts->b) : std::nullopt;
    if (number) return {parts->a, op == Op::Add ? *number : -*number};
  }
  return {v, 0};
}

std::vector<Match::Pair> Match::quotients(Value v) const {
  if (auto parts = binary(v, Op::Div)) return {*parts};
  std::vector<Pair> out;
  auto parts = binary(v, Op::Mul);
  if (!parts) return out;
  for (auto [a, b] : {*parts, Pair{parts->b, parts->a}}) {
    if (is(b, Op::Reciprocal)) out.push_back({a, operand(b)});
    if (is(b, Op::Div) && is_scalar(operand(b, 0), 1)) out.push_back({a, operand(b, 1)});
  }
  return out;
}

std::optional<Match::Reduction> Match::reduction(Value v, Op op) const {
  if (!is(v, op) || !keeps_dims(node(v)) || node(v).operands.size() < 2) return std::nullopt;
  Value x = operand(v);
  auto axes = integers(operand(v, 1));
  if (!axes || axes->empty() || !is_ranked(x)) return std::nullopt;
  for (int64_t& axis : *axes)
    if (axis < 0) axis += rank(x);
  std::ranges::sort(*axes);
  return Reduction{x, *axes};
}

bool Match::has_one_reader(Value v) const {
  const auto& readers = readers_[static_cast<size_t>(v.node)];
  return readers.size() == 1 && readers[0] >= 0;
}

bool Match::is_private(Value result, std::span<const Value> leaves) const {
  std::set<int32_t> inside = {result.node};
  std::vector<int32_t> open = {result.node};
  while (!open.empty() && inside.size() <= kLargestPattern) {
    const Node& next = graph_.nodes()[static_cast<size_t>(open.back())];
    open.pop_back();
    for (Value v : next.operands) {
      bool leaf = v.is_none() || is(v, Op::Constant) || std::ranges::find(leaves, v) != leaves.end();
      if (!leaf && inside.insert(v.node).second) open.push_back(v.node);
    }
  }
  if (inside.size() > kLargestPattern) return false;
  return std::ranges::all_of(inside, [&](int32_t i) {
    const auto& readers = readers_[static_cast<size_t>(i)];
    return i == result.node ||
           std::ranges::all_of(readers, [&](int32_t reader) { return inside.contains(reader); });
  });
}

Graph recognise(const Graph& graph, std::span<const Recogniser> recognisers) {
  std::map<const Graph*, Match> matches;
  return rewrite(
      graph, [&](Rewriter& r, const Node& node, std::span<const Value>) -> std::optional<std::vector<Value>> {
        if (node.types.size() != 1 || !node.types[0].is_ranked()) return std::nullopt;
        const Match& m = matches.try_emplace(&r.old(), r.old()).first->second;
        Value result{static_cast<int32_t>(&node - r.old().nodes().data()), 0};
        for (Recogniser f : recognisers) {
          auto found = f(r, m, result);
          if (found && may_be(node.types[0], r.g().type(*found))) return std::vector<Value>{*found};
        }
        return std::nullopt;
      });
}

}  // namespace ingot
