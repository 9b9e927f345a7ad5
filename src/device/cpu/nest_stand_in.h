#pragma once

#include <optional>
#include <vector>

#include "kernel/loop_nest.h"

namespace ingot::cpu {

// The sizes with which `other` does what `wanted` does with `sizes`; empty where it cannot. Nests of one
// group differ by the axes that have one element, which are left out, and by what is known of strides. Sums
// are made in the same order. `same_lanes`: only where vectors lie along the same axis, which reductions need
// anyway; others can do without, slowly.
std::optional<std::vector<int64_t>> stand_in_sizes(const kernel::LoopNest& wanted,
                                                   const std::vector<int64_t>& sizes,
                                                   const kernel::LoopNest& other, bool same_lanes);

}  // namespace ingot::cpu
