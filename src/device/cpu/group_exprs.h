#pragma once

#include <map>

#include "device/cpu/plan_builder.h"
#include "kernel/loop_nest.h"

namespace ingot::cpu {

// A value that an expression reads from memory; `shape` broadcasts to the domain of the group.
struct GroupLoad {
  Place place;
  Shape shape;
};

// The expressions of the nodes of a group. Load expressions refer to loads() by position.
class GroupExprs {
 public:
  explicit GroupExprs(PlanBuilder& builder) : builder_(builder) {}

  int32_t add(kernel::Expr expr);
  int32_t add_load(const Place& place, Shape shape);
  // Pointwise nodes and reductions; operands that no expression stands for are loaded. `reduced_count`:
  // elements that a reduction folds.
  int32_t add_node(int32_t n, int64_t reduced_count = 1);
  void stand_for(Value v, int32_t expr) { expr_of_[v] = expr; }
  int32_t operand(Value v);

  const std::vector<GroupLoad>& loads() const { return loads_; }
  std::vector<kernel::Expr> take_exprs() { return std::move(exprs_); }

 private:
  int32_t add_operand(Value v);
  int32_t add_constant(const Tensor& tensor);
  int32_t add_quantize(const Node& node);
  int32_t add_dequantize(const Node& node);
  // Scale or zero point of a quantisation, shaped to broadcast along its axis.
  int32_t per_slice(Value v, const Type& x, int64_t axis);
  int32_t apply(Op op, DType dtype, std::vector<int32_t> args);
  int32_t number(DType dtype, double value);
  int32_t add_reduction(const Node& node, int32_t arg, int64_t count);

  PlanBuilder& builder_;
  std::vector<kernel::Expr> exprs_;
  std::vector<GroupLoad> loads_;
  std::map<Value, int32_t> expr_of_;
};

}  // namespace ingot::cpu
