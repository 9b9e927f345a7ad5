#pragma once

#include "tests/devices/graph_maker.h"

namespace ingot::devices {

struct RandomLimits {
  int64_t size = 40;         // of an axis
  int64_t elements = 20000;  // of a value
};

// A valid graph of 3 to 25 nodes that depends on the seed alone: pointwise chains, reductions, norms,
// products, convolutions and movement over a few inputs, sizes known or symbolic, one or more outputs, one or
// more runs. Values stay near 1, so that errors do not grow; only values that are exact meet ops that jump.
// Smaller limits give a smaller graph of much the same structure.
TestGraph random_graph(uint64_t seed, const RandomLimits& limits = {});

}  // namespace ingot::devices
