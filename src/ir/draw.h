#pragma once

#include <string>

#include "ingot/graph.h"

namespace ingot {

// A graph as an SVG picture: inputs at the top, data flows down, one box a node with its op, its shape
// and its origin as a tooltip, colours by kind of op. Constants are not drawn; bodies follow
// below, each under the name of its node.
std::string draw_svg(const Graph& graph);

}  // namespace ingot
