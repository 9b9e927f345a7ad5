#pragma once

#include <string>

#include "ingot/graph.h"

namespace ingot {

// The main graph as an SVG picture: inputs at the top, data flows down, one box a node with its op, its shape
// and its origin as a tooltip, colours by kind of op. Constants are not drawn; subgraphs count in the label
// of their node.
std::string draw_svg(const Graph& graph);

}  // namespace ingot
