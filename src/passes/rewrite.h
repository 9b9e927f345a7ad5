#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ingot/graph.h"

namespace ingot {

// Where a rule adds nodes, and how it looks around in the graph that is being built.
class Rewriter {
 public:
  using Map = std::vector<std::vector<Value>>;  // by node and output of the old graph

  Rewriter(const Graph& old, GraphBuilder& g, const Map& map) : old_(old), g_(g), map_(map) {}

  GraphBuilder& g() { return g_; }
  const Graph& old() const { return old_; }
  // What stands for a value of an earlier node of the old graph.
  Value mapped(Value old) const {
    return map_[static_cast<size_t>(old.node)][static_cast<size_t>(old.output)];
  }

  // The node behind a new value. Only while the rewrite runs.
  const Node& producer(Value v) const { return g_.node(v); }
  bool is(Value v, Op op) const { return !v.is_none() && producer(v).op == op; }
  std::optional<Tensor> constant(Value v) const { return g_.constant_value(v); }

 private:
  const Graph& old_;
  GraphBuilder& g_;
  const Map& map_;
};

// Looks at one node of the old graph, whose operands are already rewritten. Returns one value per output to
// stand for the node, or nothing to keep it.
using RewriteRule = std::function<std::optional<std::vector<Value>>(Rewriter& r, const Node& node,
                                                                    std::span<const Value> operands)>;

// Walks a graph in order and builds a new one, subgraphs first. Inputs, outputs and metadata stay.
Graph rewrite(const Graph& graph, const RewriteRule& rule);

}  // namespace ingot
