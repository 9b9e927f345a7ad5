#pragma once

#include "ingot/graph.h"

namespace ingot {

// Checks everything the rest of the code relies on: operands refer to earlier nodes, their types satisfy the
// op table and the rule of the op, declared types agree with inferred ones, names of inputs and of outputs
// are unique, and subgraphs (to a depth of 64) obey the same. Throws Error(invalid_argument) that names the
// node.
void verify(const Graph& graph);

}  // namespace ingot
