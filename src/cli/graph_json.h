#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ingot/graph.h"

namespace ingot::cli {

// All of a graph but the elements of constants:
// {"name", "inputs": [{"name", "type"}], "outputs", "nodes": [{"id", "op", "operands": ["3", "5#1", null],
// "attributes": {...}, "types": [...], "origin", "subgraphs": [...]}], "metadata"}
nlohmann::ordered_json graph_json(const Graph& graph);

}  // namespace ingot::cli
