#pragma once

#include <functional>
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
  // What a dequantize node makes of integers that another expression stands for.
  int32_t dequantized(const Node& node, int32_t integers);

  // Says that an expression is base * factor + addend, with a constant of each for every column, which `load`
  // makes an expression of. What is quantised then needs no quotient.
  struct Affine {
    int32_t base = 0;
    std::vector<double> factor;
    std::vector<double> addend;
    std::function<int32_t(const std::vector<double>&)> load;
  };
  void set_affine(int32_t expr, Affine affine) { affine_[expr] = std::move(affine); }

  // Leaves out what `root` does not need; gives its new number. To be called last.
  int32_t keep_needed(int32_t root);
  const std::vector<GroupLoad>& loads() const { return loads_; }
  std::vector<kernel::Expr> take_exprs() { return std::move(exprs_); }

 private:
  int32_t add_operand(Value v);
  int32_t add_constant(const Tensor& tensor);
  int32_t add_quantize(const Node& node);
  // The same without a division, where the scale is known and allows it.
  std::optional<int32_t> add_quantize_by_product(const Node& node);
  // x / scale, held within the range of the integers without their zero point.
  std::optional<int32_t> clamped_quotient(int32_t x, float scale, int64_t zero, DType to);
  std::optional<int32_t> affine_quotient(const Affine& affine, float scale, int64_t zero, DType to);
  int32_t clamped(int32_t x, float low, float high);
  // Scale or zero point of a quantisation, shaped to broadcast along its axis.
  int32_t per_slice(Value v, const Type& x, int64_t axis);
  int32_t apply(Op op, DType dtype, std::vector<int32_t> args);
  int32_t number(DType dtype, double value);
  // One number that is given at each call.
  int32_t parameter(float value);
  int32_t add_reduction(const Node& node, int32_t arg, int64_t count);

  PlanBuilder& builder_;
  std::vector<kernel::Expr> exprs_;
  std::vector<GroupLoad> loads_;
  std::map<Value, int32_t> expr_of_;
  std::map<int32_t, Affine> affine_;
  struct Rounded {
    int32_t sum = 0;  // the integer before the zero point is added, and `rounder`
    int32_t rounder = 0;
    int64_t zero = 0;
  };
  std::map<int32_t, Rounded> rounded_;  // by what quantize gives
};

}  // namespace ingot::cpu
