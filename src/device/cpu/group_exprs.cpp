#include "device/cpu/group_exprs.h"

#include "device/cpu/nest_types.h"
#include "device/cpu/static_graph.h"
#include "ir/numeric.h"
#include "ir/op_info.h"

namespace ingot::cpu {

int32_t GroupExprs::add(kernel::Expr expr) {
  exprs_.push_back(std::move(expr));
  return static_cast<int32_t>(exprs_.size()) - 1;
}

int32_t GroupExprs::add_load(const Place& place, Shape shape) {
  loads_.push_back({place, std::move(shape)});
  return add({.kind = kernel::ExprKind::load,
              .dtype = *compute_type(place.view.dtype),
              .args = {},
              .source = static_cast<int32_t>(loads_.size()) - 1});
}

int32_t GroupExprs::add_node(int32_t n, int64_t reduced_count) {
  const Node& node = builder_.node(n);
  const bool reduction = op_info(node.op).is(Reduces);
  std::vector<int32_t> args;
  for (size_t i = 0; i < (reduction ? 1 : node.operands.size()); ++i)
    args.push_back(operand(node.operands[i]));
  // One kernel for both orders.
  if (op_info(node.op).is(Commutative) && args.size() >= 2 && args[1] < args[0]) std::swap(args[0], args[1]);
  int32_t expr = 0;
  if (reduction) {
    expr = add_reduction(node, args[0], reduced_count);
  } else {
    kernel::Expr pointwise = pointwise_expr(node);
    pointwise.args = std::move(args);
    expr = add(std::move(pointwise));
  }
  stand_for({n, 0}, expr);
  return expr;
}

int32_t GroupExprs::add_reduction(const Node& node, int32_t arg, int64_t count) {
  const bool mean = node.op == Op::ReduceMean;
  const DType dtype = *compute_type(node.types[0].dtype);
  const int32_t sum = add({.kind = kernel::ExprKind::reduce,
                           .op = mean ? Op::ReduceSum : node.op,
                           .dtype = dtype,
                           .args = {arg}});
  if (!mean) return sum;
  // A number given at each call, so that one kernel serves every size.
  const int32_t divisor =
      dtype == DType::f64
          ? add_load(builder_.constant(Tensor::of<double>({1}, {static_cast<double>(count)})), {1})
          : add_load(builder_.constant(Tensor::of<float>({1}, {static_cast<float>(count)})), {1});
  return add({.kind = kernel::ExprKind::op, .op = Op::Div, .dtype = dtype, .args = {sum, divisor}});
}

int32_t GroupExprs::operand(Value v) {
  auto found = expr_of_.find(v);
  if (found != expr_of_.end()) return found->second;
  const int32_t expr = add_operand(v);
  stand_for(v, expr);
  return expr;
}

int32_t GroupExprs::add_operand(Value v) {
  const Tensor* constant = constant_of(builder_.graph(), v);
  if (constant && constant->count() == 1) return add_constant(*constant);
  return add_load(builder_.place(v), static_shape(builder_.graph().type(v)));
}

int32_t GroupExprs::add_constant(const Tensor& tensor) {
  kernel::Expr expr{.kind = kernel::ExprKind::constant, .dtype = *compute_type(tensor.dtype()), .args = {}};
  if (is_floating(tensor.dtype()))
    decode_to_f64(tensor.dtype(), tensor.bytes().data(), 1, &expr.real);
  else
    decode_to_i64(tensor.dtype(), tensor.bytes().data(), 1, &expr.integer);
  return add(std::move(expr));
}

}  // namespace ingot::cpu
