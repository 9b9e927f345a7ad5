#pragma once

#include "device/cpu/plan_builder.h"

// Convolutions of 3x3 cells and stride 1 by the minimal filtering algorithm F(2x2, 3x3) of Winograd (Lavin
// and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015): each 2x2 tile of outputs comes from a
// 4x4 tile of inputs with 16 products a channel rather than 36. Only sums and halves enter the transforms, so
// that float results stay as near to the true ones as those of the direct sum, within a small factor.
namespace ingot::cpu {

// Whether the convolution has this form and is large enough to gain from it.
bool suits_winograd(const Graph& graph, const Node& node);
void lower_winograd(PlanBuilder& builder, const Group& group);

}  // namespace ingot::cpu
