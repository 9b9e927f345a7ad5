#pragma once

#include "ingot/graph.h"

namespace ingot {

// Common subexpressions: nodes with the same op, attributes and operands become one. Constants merge by
// content where they are small; the engine writer stores large equal ones once anyway. Random ops and nodes
// with subgraphs stay.
Graph merge_duplicates(const Graph& graph);

}  // namespace ingot
