#pragma once

#include "ingot/graph.h"

// What the recurrent layers share.
namespace ingot {

// The activations by name, in the order of `activation_names`.
constexpr std::string_view kRecurrentActivations[] = {
    "sigmoid",     "tanh",         "relu", "affine",   "leaky_relu", "thresholded_relu",
    "scaled_tanh", "hard_sigmoid", "elu",  "softsign", "softplus"};

inline size_t direction_count(Direction direction) { return direction == Direction::bidirectional ? 2 : 1; }

}  // namespace ingot
