#pragma once

#include "ir/shape_values.h"

namespace ingot {

// shape_values() for ops that move, repeat or fold the values of a vector.
std::optional<std::vector<Dim>> moved_shape_values(
    const Node& node, const std::vector<Type>& operand_types,
    const std::vector<std::optional<std::vector<Dim>>>& operands);

}  // namespace ingot
