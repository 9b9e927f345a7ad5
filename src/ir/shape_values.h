#pragma once

#include <optional>
#include <vector>

#include "ingot/graph.h"

// Shape arithmetic: what is known, while building, of the content of integer tensors of rank 0 and 1.
namespace ingot {

// `operands`: known values of each operand, empty where nothing is known. `node` has its types set.
// The result is empty where the op is no shape arithmetic or too little is known. At most 64 values are
// followed.
std::optional<std::vector<Dim>> shape_values(const Node& node, const std::vector<Type>& operand_types,
                                             const std::vector<std::optional<std::vector<Dim>>>& operands);

// The content of a small integer constant.
std::optional<std::vector<Dim>> constant_values(const Tensor& tensor);

// Sizes or values as numbers; empty where they are not known or one of them is no constant.
std::optional<std::vector<int64_t>> numbers(const std::optional<std::vector<Dim>>& values);

// Which axes [first, second) of an operand of this rank a shape_of gives, clamped to those there are.
std::pair<int64_t, int64_t> axis_range(const ShapeOfAttrs& attrs, int64_t rank);

}  // namespace ingot
