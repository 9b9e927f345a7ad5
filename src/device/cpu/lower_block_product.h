#pragma once

#include <cstdint>

namespace ingot::cpu {

class PlanBuilder;

// Adds the step of a matmul with weights that are quantised by blocks; false where it is none.
bool lower_block_product(PlanBuilder& builder, int32_t node);

}  // namespace ingot::cpu
