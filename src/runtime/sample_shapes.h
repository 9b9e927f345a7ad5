#pragma once

#include <vector>

#include "runtime/engine_state.h"

namespace ingot {

// Sets of shapes of the inputs, in the order of the graph, that stand for all that an engine with open shapes
// takes: the ends of its profiles or, without any, sizes that models usually allow. None where all shapes are
// fixed or a rank is open.
std::vector<std::vector<Shape>> sample_shapes(const Engine::State& engine);

}  // namespace ingot
