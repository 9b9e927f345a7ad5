#pragma once

#include "ingot/graph.h"

// What the recurrent layers share.
namespace ingot {

// The activations that the attributes of recurrent layers may name.
constexpr std::string_view kRecurrentActivations[] = {
    "sigmoid",     "tanh",         "relu", "affine",   "leaky_relu", "thresholded_relu",
    "scaled_tanh", "hard_sigmoid", "elu",  "softsign", "softplus"};

inline size_t direction_count(Direction direction) { return direction == Direction::bidirectional ? 2 : 1; }

}  // namespace ingot
