#include "passes/gather_early.h"

#include "ir/op_info.h"
#include "passes/rewrite.h"

namespace ingot {
namespace {

constexpr int kDeepest = 6;  // pointwise nodes on the way to the constants

// The rows of a value that is computed from constants, element by element.
class Rows {
 public:
  Rows(Rewriter& r, const Node& gather, Value indices) : r_(r), gather_(gather), indices_(indices) {}

  // Whether `v`, with `shape` to be gathered from along its first axis, is such a value.
  bool can_be_taken(Value v, const Dims& shape, int depth = 0) const {
    const Type& type = r_.g().type(v);
    if (!type.is_ranked() || is_sub_byte(type.dtype) || type.dtype == DType::string) return false;
    if (r_.constant(v)) return true;
    const Node& node = r_.producer(v);
    if (depth == kDeepest || !op_info(node.op).is(Pointwise) || node.types.size() != 1) return false;
    return std::ranges::all_of(node.operands, [&](Value operand) {
      return !operand.is_none() && can_be_taken(operand, shape, depth + 1);
    });
  }

  Value take(Value v, const Dims& shape) {
    if (!has_rows(v, shape)) return v;  // the same for all rows
    if (r_.constant(v)) return r_.g().add(gather_.attrs, {v, indices_})[0];
    const Node node = r_.producer(v);
    std::vector<Value> operands;
    for (Value operand : node.operands) operands.push_back(take(operand, shape));
    return r_.g().add(node.attrs, operands)[0];
  }

 private:
  bool has_rows(Value v, const Dims& shape) const {
    const Dims& own = *r_.g().type(v).dims;
    return own.size() == shape.size() && own[0] == shape[0];
  }

  Rewriter& r_;
  const Node& gather_;
  Value indices_;
};

}  // namespace

Graph gather_early(const Graph& graph) {
  return rewrite(
      graph,
      [](Rewriter& r, const Node& node, std::span<const Value> in) -> std::optional<std::vector<Value>> {
        if (node.op != Op::Gather || r.constant(in[0])) return std::nullopt;
        const Type table = r.g().type(in[0]);
        if (!table.is_ranked() || table.dims->empty()) return std::nullopt;
        const int64_t axis = node.as<GatherAttrs>().axis;
        if (axis != 0 && axis + std::ssize(*table.dims) != 0) return std::nullopt;
        Rows rows(r, node, in[1]);
        if (!rows.can_be_taken(in[0], *table.dims)) return std::nullopt;
        return std::vector<Value>{rows.take(in[0], *table.dims)};
      });
}

}  // namespace ingot
