#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace ingot {

// A label names an axis: a letter, or kEllipsisLabel + i for the i-th axis from the right of those that "..."
// covers.
using EinsumLabels = std::vector<int>;
constexpr int kEllipsisLabel = 1000;

struct EinsumEquation {
  std::vector<EinsumLabels> inputs;  // one label per axis of each operand
  EinsumLabels output;
};

// Reads an equation such as "bij,bjk->bik" for operands of the given ranks. Without "->" the output has the
// axes of the ellipses, then the letters that occur once, sorted. Throws Error(invalid_argument).
EinsumEquation parse_einsum(std::string_view equation, std::span<const size_t> ranks);

}  // namespace ingot
