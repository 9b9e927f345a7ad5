#include "ir/decompose_helpers.h"

#include "ir/builder_helpers.h"

namespace ingot {

Value operand(std::span<const Value> operands, size_t i) {
  return i < operands.size() ? operands[i] : Value();
}

Value integer(GraphBuilder& g, int64_t value) { return g.constant(Tensor::of<int64_t>({}, {value})); }

Value count_up(GraphBuilder& g, Value length) {
  return g.range(integer(g, 0), as_scalar(g, length), integer(g, 1));
}

}  // namespace ingot
