#include "device/cpu/group_exprs.h"

#include <cmath>

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
  if (node.op == Op::Quantize || node.op == Op::Dequantize) {
    const int32_t expr = node.op == Op::Quantize ? add_quantize(node) : add_dequantize(node);
    stand_for({n, 0}, expr);
    return expr;
  }
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

int32_t GroupExprs::apply(Op op, DType dtype, std::vector<int32_t> args) {
  return add({.kind = kernel::ExprKind::op, .op = op, .dtype = dtype, .args = std::move(args)});
}

int32_t GroupExprs::number(DType dtype, double value) {
  return add({.kind = kernel::ExprKind::constant,
              .dtype = dtype,
              .real = value,
              .integer = is_integer(dtype) ? static_cast<int64_t>(value) : 0});
}

int32_t GroupExprs::per_slice(Value v, const Type& x, int64_t axis) {
  const Shape given = static_shape(builder_.graph().type(v));
  // Loaded rather than part of the kernel, which then serves every layer.
  if (element_count(given) == 1) {
    Place place = builder_.place(v);
    place.view.rank = 0;
    return add_load(place, {});
  }
  const auto rank = static_cast<int64_t>(x.dims->size());
  if (axis < 0) axis += rank;
  Place place = builder_.place(v);
  Shape shape = {given[0]};
  for (int64_t i = axis + 1; i < rank; ++i) shape.push_back(1);
  place.view.rank = static_cast<int>(shape.size());
  for (size_t i = 1; i < shape.size(); ++i) {
    place.view.sizes[i] = 1;
    place.view.strides[i] = 0;
  }
  return add_load(place, std::move(shape));
}

// saturate(round(x / scale) + zero), with ties to even.
int32_t GroupExprs::add_quantize(const Node& node) {
  const auto& a = node.as<QuantizeAttrs>();
  const Type& x = builder_.graph().type(node.operands[0]);
  const int32_t scale = per_slice(node.operands[1], x, a.axis);
  int32_t value =
      apply(Op::Round, DType::f32, {apply(Op::Div, DType::f32, {operand(node.operands[0]), scale})});
  if (node.operands.size() > 2 && !node.operands[2].is_none()) {
    const int32_t zero = apply(Op::Cast, DType::f32, {per_slice(node.operands[2], x, a.axis)});
    value = apply(Op::Add, DType::f32, {value, zero});
  }
  const double steps = std::ldexp(1.0, bit_width(a.to) - (is_signed_integer(a.to) ? 1 : 0));
  const double low = is_signed_integer(a.to) ? -steps : 0;
  value = apply(Op::Clamp, DType::f32, {value, number(DType::f32, low), number(DType::f32, steps - 1)});
  return apply(Op::Cast, a.to, {value});
}

// (x - zero) * scale.
int32_t GroupExprs::add_dequantize(const Node& node) {
  const auto& a = node.as<DequantizeAttrs>();
  const Type& x = builder_.graph().type(node.operands[0]);
  int32_t value = apply(Op::Cast, DType::f32, {operand(node.operands[0])});
  if (node.operands.size() > 2 && !node.operands[2].is_none()) {
    const int32_t zero = apply(Op::Cast, DType::f32, {per_slice(node.operands[2], x, a.axis)});
    value = apply(Op::Sub, DType::f32, {value, zero});
  }
  return apply(Op::Mul, DType::f32, {value, per_slice(node.operands[1], x, a.axis)});
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
