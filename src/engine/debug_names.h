#pragma once

#include <map>
#include <string>
#include <vector>

#include "ingot/graph.h"

// Which outputs of a graph are debug tensors travels in its notes: names, one a line.
namespace ingot {

using Notes = std::map<std::string, std::string>;

// Throws Error(invalid_argument) unless the names are those of outputs that are tensors of numbers, each
// once, and leave an output that is none.
void require_debug_outputs(const Graph& graph, const std::vector<std::string>& names);

// The notes with these names; without any, those of before without any.
Notes with_debug_names(Notes notes, const std::vector<std::string>& names);
std::vector<std::string> debug_names(const Notes& notes);

}  // namespace ingot
