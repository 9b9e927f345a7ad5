#pragma once

#include <functional>

#include "tests/devices/graph_maker.h"

namespace ingot::devices {

using Fails = std::function<bool(const TestGraph&)>;

// The smallest part of a graph that still fails: one run, few outputs, known sizes, and inputs with the
// values of the reference device in place of what comes before. `graph` must fail.
TestGraph shrink(TestGraph graph, const Fails& fails);

}  // namespace ingot::devices
