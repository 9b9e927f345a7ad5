#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ingot/error.h"
#include "ingot/graph.h"

namespace ingot::reference {

// Runs a graph. `inputs` follow graph.inputs(); the results follow graph.outputs(). Inputs must fit the
// declared types, and equal symbols must meet equal sizes: Error(invalid_argument) names the input otherwise.
// Thread-safe.
std::vector<Datum> evaluate(const Graph& graph, std::span<const Datum> inputs);

// Throws the error of a node again, naming the node.
[[noreturn]] void rethrow_with_origin(const Error& e, const Node& node);

// Runs the body of a control-flow node; evaluate() where it is not given.
using RunBody = std::function<std::vector<Datum>(const GraphPtr& body, std::span<const Datum> inputs)>;

// Runs one node on given operands (an absent operand is an empty Datum).
std::vector<Datum> evaluate_node(const Node& node, std::span<const Datum> operands,
                                 const RunBody* run_body = nullptr);

}  // namespace ingot::reference
