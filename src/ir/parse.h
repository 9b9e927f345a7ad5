#pragma once

#include <string_view>

#include "ingot/graph.h"

namespace ingot {

// Reads the text form of print.h; comments run from '//' to the end of a line. Throws Error(corrupt) that
// names the line and column, or what the graph builder throws, for a text that breaks the rules of an op.
Graph parse_graph(std::string_view text);

// "f32[batch, 3]", "f32[*]", "sequence<f32[*]>". Throws Error(corrupt).
Type parse_type(std::string_view text);

}  // namespace ingot
