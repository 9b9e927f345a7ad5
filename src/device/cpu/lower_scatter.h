#pragma once

#include <cstdint>

namespace ingot::cpu {

class PlanBuilder;

// Adds the copies of a scatter_nd whose constant indices name a regular grid, as exporters write assignments
// to slices; false where it is none.
bool lower_slice_update(PlanBuilder& builder, int32_t node);

}  // namespace ingot::cpu
