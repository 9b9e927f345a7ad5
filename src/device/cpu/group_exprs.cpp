#include "device/cpu/group_exprs.h"

#include <cmath>

#include "device/cpu/exact_quotient.h"
#include "device/cpu/nest_types.h"
#include "device/cpu/quantised.h"
#include "device/cpu/static_graph.h"
#include "ir/numeric.h"
#include "ir/op_info.h"

namespace ingot::cpu {
namespace {

constexpr double kLargest = 1e28;  // factors of sums of integers, which stay finite

}  // namespace

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
    const int32_t expr =
        node.op == Op::Quantize ? add_quantize(node) : dequantized(node, operand(node.operands[0]));
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

int32_t GroupExprs::parameter(float value) {
  Place place = builder_.constant(Tensor::of<float>({1}, {value}));
  place.view.rank = 0;
  return add_load(place, {});
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
  if (const std::optional<int32_t> product = add_quantize_by_product(node)) return *product;
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

// NaN gives the lower end.
int32_t GroupExprs::clamped(int32_t x, float low, float high) {
  auto choose = [&](int32_t a, int32_t b, int32_t yes, int32_t no) {
    return apply(Op::Select, DType::f32, {apply(Op::Less, DType::boolean, {a, b}), yes, no});
  };
  const int32_t lowest = parameter(low), highest = parameter(high);
  x = choose(lowest, x, x, lowest);
  return choose(x, highest, x, highest);
}

std::optional<int32_t> GroupExprs::clamped_quotient(int32_t x, float scale, int64_t zero, DType to) {
  const auto quotient = exact_quotient(scale, zero, to);
  if (!quotient) return std::nullopt;
  // NaN becomes the byte 0, which is the lowest unsigned one.
  if (is_signed_integer(to)) {
    const float origin = -static_cast<float>(zero) * scale;
    const int32_t instead = zero == 0 ? number(DType::f32, 0) : parameter(origin);
    x = apply(Op::Select, DType::f32, {apply(Op::Equal, DType::boolean, {x, x}), x, instead});
  }
  x = clamped(x, quotient->low, quotient->high);
  const int32_t rest = apply(Op::Mul, DType::f32, {x, parameter(quotient->rest)});
  return add(
      {.kind = kernel::ExprKind::fma, .dtype = DType::f32, .args = {x, parameter(quotient->inverse), rest}});
}

// The sum was rounded, and so is the quotient, once as well: as near to the true one as that of the sum.
std::optional<int32_t> GroupExprs::affine_quotient(const Affine& affine, float scale, int64_t zero,
                                                   DType to) {
  if (!(scale > 0) || !std::isfinite(scale)) return std::nullopt;
  std::vector<double> factor, addend;
  for (size_t c = 0; c < affine.factor.size(); ++c) {
    factor.push_back(affine.factor[c] / static_cast<double>(scale));
    addend.push_back(affine.addend[c] / static_cast<double>(scale));
    if (std::max(std::abs(factor[c]), std::abs(addend[c])) > kLargest) return std::nullopt;
  }
  const int32_t quotient = add({.kind = kernel::ExprKind::fma,
                                .dtype = DType::f32,
                                .args = {affine.base, affine.load(factor), affine.load(addend)}});
  const auto low = static_cast<float>((is_signed_integer(to) ? -128 : 0) - zero);
  return clamped(quotient, low, low + 255);
}

std::optional<int32_t> GroupExprs::add_quantize_by_product(const Node& node) {
  const auto& a = node.as<QuantizeAttrs>();
  const Tensor* tensor = constant_of(builder_.graph(), node.operands[1]);
  const std::optional<int64_t> zero = constant_zero(builder_.graph(), node, 2);
  if (!tensor || tensor->count() != 1 || !zero || bit_width(a.to) != 8) return std::nullopt;
  const float scale = tensor->aligned().data<float>()[0];
  int32_t x = operand(node.operands[0]);
  const kernel::Expr& given = exprs_[static_cast<size_t>(x)];
  const bool cuts_below = !is_signed_integer(a.to) && *zero == 0;
  if (cuts_below && given.kind == kernel::ExprKind::op && given.op == Op::Relu) x = given.args[0];
  std::optional<int32_t> quotient;
  if (auto affine = affine_.find(x); affine != affine_.end())
    quotient = affine_quotient(affine->second, scale, *zero, a.to);
  if (!quotient) quotient = clamped_quotient(x, scale, *zero, a.to);
  if (!quotient) return std::nullopt;
  // Added to 1.5 * 2^23, a number is rounded to an integer, which is then in the low bits.
  const int32_t rounder = number(DType::f32, 0x1.8p23);
  const int32_t sum = apply(Op::Add, DType::f32, {*quotient, rounder});
  int32_t integer = apply(Op::BitCast, DType::i32, {sum});
  if (*zero != 0) {
    const int32_t offset = per_slice(node.operands[2], builder_.graph().type(node.operands[0]), a.axis);
    integer = apply(Op::Add, DType::i32, {integer, apply(Op::Cast, DType::i32, {offset})});
  }
  integer = apply(Op::Cast, a.to, {integer});
  rounded_[integer] = {sum, rounder, *zero};
  return integer;
}

// (x - zero) * scale.
int32_t GroupExprs::dequantized(const Node& node, int32_t integers) {
  const auto& a = node.as<DequantizeAttrs>();
  const Type& x = builder_.graph().type(node.operands[0]);
  const std::optional<int64_t> zero_point = constant_zero(builder_.graph(), node, 2);
  if (auto found = rounded_.find(integers); found != rounded_.end() && zero_point == found->second.zero) {
    const int32_t value = apply(Op::Sub, DType::f32, {found->second.sum, found->second.rounder});
    return apply(Op::Mul, DType::f32, {value, per_slice(node.operands[1], x, a.axis)});
  }
  int32_t value = apply(Op::Cast, DType::f32, {integers});
  if (constant_zero(builder_.graph(), node, 2) != 0) {
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

int32_t GroupExprs::keep_needed(int32_t root) {
  std::vector<bool> needed(exprs_.size(), false);
  needed[static_cast<size_t>(root)] = true;
  for (size_t i = exprs_.size(); i-- > 0;)
    if (needed[i])
      for (int32_t arg : exprs_[i].args) needed[static_cast<size_t>(arg)] = true;
  std::vector<int32_t> place(exprs_.size());
  std::vector<kernel::Expr> kept;
  std::vector<GroupLoad> loads;
  for (size_t i = 0; i < exprs_.size(); ++i) {
    if (!needed[i]) continue;
    kernel::Expr e = std::move(exprs_[i]);
    for (int32_t& arg : e.args) arg = place[static_cast<size_t>(arg)];
    if (e.kind == kernel::ExprKind::load) {
      loads.push_back(loads_[static_cast<size_t>(e.source)]);
      e.source = static_cast<int32_t>(loads.size()) - 1;
    }
    place[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(e));
  }
  exprs_ = std::move(kept);
  loads_ = std::move(loads);
  return place[static_cast<size_t>(root)];
}

}  // namespace ingot::cpu
