#pragma once

#include "passes/rewrite.h"

// What passes that recognise patterns are made of. A pattern is looked for in the old graph, backwards from
// its result; constants stand second in commutative ops, as canonicalise leaves them.
namespace ingot {

class Match {
 public:
  explicit Match(const Graph& graph);

  const Graph& graph() const { return graph_; }
  const Node& node(Value v) const { return graph_.node(v); }
  bool is(Value v, Op op) const { return !v.is_none() && v.output == 0 && node(v).op == op; }
  Value operand(Value v, size_t i = 0) const { return node(v).operands.at(i); }
  DType dtype(Value v) const { return graph_.type(v).dtype; }
  bool is_ranked(Value v) const { return graph_.type(v).is_ranked(); }
  const Dims& dims(Value v) const { return *graph_.type(v).dims; }
  int64_t rank(Value v) const { return static_cast<int64_t>(dims(v).size()); }

  // A constant of one element, which stretches to any shape.
  std::optional<double> scalar(Value v) const;
  // Equal as far as the element type of v can tell.
  bool is_scalar(Value v, double wanted) const;
  bool close(Value like, double a, double b) const;
  std::optional<std::vector<int64_t>> integers(Value v) const;

  struct Pair {
    Value a, b;
  };
  // The operands of v, if it has this op.
  std::optional<Pair> binary(Value v, Op op) const;

  // v = factor * product of `values`, through mul, div by a number, neg, small whole powers and sums with 0.
  struct Product {
    double factor = 1;
    std::vector<Value> values;
  };
  Product product(Value v) const;
  // v = x + term, where term is a number; x itself and 0 else.
  struct Shifted {
    Value x;
    double term = 0;
  };
  Shifted shifted(Value v) const;
  // v = a / b or a * (1 / b).
  std::vector<Pair> quotients(Value v) const;

  // A reduction of x over `axes`, not negative and in order, that keeps the rank.
  struct Reduction {
    Value x;
    std::vector<int64_t> axes;
  };
  std::optional<Reduction> reduction(Value v, Op op) const;

  // Whether nothing but `result` sees what is computed on the way from `leaves` to it, so that it can go.
  bool is_private(Value result, std::span<const Value> leaves) const;
  bool has_one_reader(Value v) const;

 private:
  int small_power(Value v) const;  // 0 unless v = x^n with n from 1 to 4

  const Graph& graph_;
  std::vector<std::vector<int32_t>> readers_;  // by node; -1 for an output of the graph
};

// Gives what stands for `result`, or nothing. Has the type of `result`.
using Recogniser = std::optional<Value> (*)(Rewriter& r, const Match& m, Value result);

// Tries recognisers in order at each node of one output.
Graph recognise(const Graph& graph, std::span<const Recogniser> recognisers);

}  // namespace ingot
