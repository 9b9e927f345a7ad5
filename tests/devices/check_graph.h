#pragma once

#include <string>

#include "tests/devices/graph_maker.h"
#include "tests/devices/targets.h"

namespace ingot::devices {

// Runs all runs of a graph on one program of a target against the reference device. Empty when results agree,
// else what differs first. An output may be off by some units in the last place of its largest value, or by
// more where the reference device itself is: where noise of that size in every value changes the output more.
std::string check_graph(const TestGraph& graph, const Target& target);

// A graph as text, as far as one can read it.
std::string describe(const TestGraph& graph);

}  // namespace ingot::devices
