#pragma once

#include <vector>

#include "ingot/graph.h"

namespace ingot {

// Arithmetic that a node or a graph needs, counted from shapes; sizes may be symbolic. Data movement counts
// nothing.
struct Cost {
  Dim multiply_adds = 0;  // of matrix products and convolutions: one per product that is summed
  Dim other = 0;          // one per output element of a pointwise op, per input element of a reduction
  bool complete = true;   // false: a part is not counted, as a rank is unknown or the sum grew too long

  // Floating-point operations, a multiply-add being two.
  Dim flops() const { return multiply_adds + multiply_adds + other; }
};

// A composite op counts what its decomposition counts. The body of a loop counts once, since its trip count
// is known only at run time; of the branches of an if, the one with more multiply-adds counts.
Cost node_cost(const Graph& graph, const Node& node);
Cost graph_cost(const Graph& graph);

// Elements of the constants that weights are made of: those of floating or quantised types above 1 element,
// also of subgraphs, each node once.
int64_t parameter_count(const Graph& graph);

}  // namespace ingot
