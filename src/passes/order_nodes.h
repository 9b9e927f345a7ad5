#pragma once

#include "ingot/graph.h"

namespace ingot {

// Numbers the nodes in the one order that the graph itself gives: inputs as declared, then depth first from
// the outputs, each node after its operands taken left to right. Sizes that inference makes up are named in
// that order, and so are those of the inputs of bodies, so graphs that differ in these two things alone
// become the same. Order and names differ between compilers, since C++ lets the calls that add the operands
// of a node run in any order. Names of the inputs of the main graph stay: callers use them. Nodes that no
// output needs come last, in the order they had.
Graph order_nodes(const Graph& graph);

}  // namespace ingot
