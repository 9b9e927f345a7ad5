#pragma once

#include <span>

#include "ingot/graph.h"

// What several decompositions need beside builder_helpers.h.
namespace ingot {

// Operand `i`; none where it is absent.
Value operand(std::span<const Value> operands, size_t i);

// A scalar i64.
Value integer(GraphBuilder& g, int64_t value);

// i64[n]: 0, 1 ... below a length, which is one i64 of any rank.
Value count_up(GraphBuilder& g, Value length);

}  // namespace ingot
