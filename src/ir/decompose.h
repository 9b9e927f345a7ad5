#pragma once

#include <span>
#include <vector>

#include "ingot/graph.h"

namespace ingot {

// A composite op means what its decomposition computes. A decomposition adds simpler nodes (primitives or
// other composites) to `g` and returns one value per output of `node`. Operands have a known rank; sizes may
// be symbolic, so a decomposition that needs a size asks for `shape_of`. Absent operands are none.
using Decomposition = std::vector<Value> (*)(GraphBuilder& g, const Node& node,
                                             std::span<const Value> operands);

// Null for primitives. Every op with the trait Composite has one; tests check it.
Decomposition find_decomposition(Op op);

struct Decomposed {
  Graph graph;                // outputs "0", "1" ...
  std::vector<Datum> inputs;  // the operands that are present
};

// The decomposition of one node for real operands; small integer operands become constants.
// Throws Error(unsupported) when the op has none.
Decomposed decompose(const Node& node, std::span<const Datum> operands);

}  // namespace ingot
