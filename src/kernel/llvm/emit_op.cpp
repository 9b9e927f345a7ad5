#include <limits>

#include "ingot/error.h"
#include "ir/arithmetic.h"
#include "ir/op_info.h"
#include "kernel/llvm/expressions.h"
#include "kernel/llvm/op_emitters.h"
#include "kernel/llvm/vector_math.h"

namespace ingot::kernel {
namespace {

[[noreturn]] void cannot_emit(const Expr& e) {
  throw Error({.code = ErrorCode::internal,
               .object = "kernel",
               .expected = "an op that can_emit allows",
               .observed = fmt::format("{} of {}", ingot::to_string(e.op), ingot::to_string(e.dtype))});
}

bool is_never_nan(Vec x) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(x.value);
  const auto* number =
      constant == nullptr ? nullptr : llvm::dyn_cast_or_null<llvm::ConstantFP>(constant->getSplatValue());
  return number != nullptr && !number->isNaN();
}

Vec elu(Vec x, double alpha) { return select(x < 0, math::expm1(x) * alpha, x); }
Vec hard_sigmoid(Vec x, double alpha, double beta) { return at_most(at_least(fma(x, alpha, beta), 0), 1); }

// x clamp(x / 6 + 1/2, 0, 1); x + 3 is exact where it cancels.
Vec hard_swish(Vec x) { return x * (at_most(at_least(x + 3, 0), 6) * (1.0 / 6)); }

Vec sign(DType dtype, Vec x) {
  const Vec negative = is_floating(dtype) || is_signed(dtype) ? select(x < 0, -1, x) : x;
  return select(less(dtype, x.like(0), x), 1, negative);
}

Vec absolute(DType dtype, Vec x) {
  if (is_floating(dtype)) return abs(x);
  return is_signed(dtype) ? select(x < 0, -x, x) : x;
}

Vec real_function(const Expr& e, Vec x) {
  switch (e.op) {
    case Op::Ceil: return x.call(llvm::Intrinsic::ceil);
    case Op::Floor: return x.call(llvm::Intrinsic::floor);
    case Op::Round: return x.call(llvm::Intrinsic::roundeven);
    case Op::Sqrt: return sqrt(x);
    case Op::Reciprocal: return 1 / x;
    case Op::HardSigmoid: return hard_sigmoid(x, e.real, e.real2);
    case Op::HardSwish: return hard_swish(x);
    case Op::LeakyRelu: return select(x < 0, x * e.real, x);
    default: break;
  }
  if (e.dtype != DType::f32) cannot_emit(e);
  switch (e.op) {
    case Op::Exp: return math::exp(x);
    case Op::Log: return math::log(x);
    case Op::Sin: return math::sin(x);
    case Op::Cos: return math::cos(x);
    case Op::Tan: return math::tan(x);
    case Op::Asin: return math::asin(x);
    case Op::Acos: return math::acos(x);
    case Op::Atan: return math::atan(x);
    case Op::Sinh: return math::sinh(x);
    case Op::Cosh: return math::cosh(x);
    case Op::Tanh: return math::tanh(x);
    case Op::Asinh: return math::asinh(x);
    case Op::Acosh: return math::acosh(x);
    case Op::Atanh: return math::atanh(x);
    case Op::Erf: return math::erf(x);
    case Op::Sigmoid: return math::sigmoid(x);
    case Op::Elu: return elu(x, e.real);
    case Op::Gelu: return e.integer == 1 ? math::gelu_tanh(x) : math::gelu_erf(x);
    case Op::Mish: return math::mish(x);
    case Op::Softplus: return math::softplus(x);
    case Op::Swish: return math::swish(x, e.real);
    default: cannot_emit(e);
  }
}

Vec is_infinite(const Expr& e, Vec x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if ((e.integer & 3) == 3) return abs(x) == kInfinity;
  if ((e.integer & 3) == 0) return x.with(llvm::Constant::getNullValue(x.with_element(x.b().getInt1Ty())));
  return x == ((e.integer & 2) != 0 ? kInfinity : -kInfinity);
}

// Whether the operand is clamped to numbers of 32 bits (or NaN), and then perhaps rounded.
bool is_clamped_to_32_bits(const LoopNest& nest, int32_t expr) {
  const Expr& e = nest.exprs[static_cast<size_t>(expr)];
  if (e.kind != ExprKind::op) return false;
  if (e.op == Op::Round || e.op == Op::Floor || e.op == Op::Ceil)
    return is_clamped_to_32_bits(nest, e.args[0]);
  auto is_within = [&](int32_t bound) {
    const Expr& b = nest.exprs[static_cast<size_t>(bound)];
    return b.kind == ExprKind::constant && b.real > -0x1p31 && b.real < 0x1p31;
  };
  return e.op == Op::Clamp && is_within(e.args[1]) && is_within(e.args[2]);
}

Vec unary(const LoopNest& nest, const Expr& e, DType from, Vec x) {
  switch (e.op) {
    case Op::Abs: return absolute(from, x);
    case Op::Neg: return -x;
    case Op::Sign: return sign(from, x);
    case Op::Relu: return is_floating(from) || is_signed(from) ? select(x < 0, 0, x) : x;
    case Op::LogicalNot:
    case Op::BitwiseNot: return !x;
    case Op::IsNan: return is_nan(x);
    case Op::IsInf: return is_infinite(e, x);
    case Op::Cast: return cast(from, e.dtype, x, is_clamped_to_32_bits(nest, e.args[0]));
    case Op::BitCast: return bit_cast(from, e.dtype, x);
    default: return real_function(e, x);
  }
}

// Common exponents are exact or nearly so without logarithms.
Vec power(const LoopNest& nest, const Expr& e, Vec x, Vec y) {
  const Expr& exponent = nest.exprs[static_cast<size_t>(e.args[1])];
  const DType type = arithmetic_type(exponent.dtype);
  if (exponent.kind == ExprKind::constant) {
    const double n = is_floating(type) ? exponent.real : static_cast<double>(exponent.integer);
    if (n == 1) return x;
    if (n == 2) return x * x;
    if (n == 3) return x * x * x;
    if (n == -1) return 1 / x;
    if (n == 0.5)
      return select(x == -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
                    sqrt(x + 0.0));
  }
  if (e.dtype != DType::f32) cannot_emit(e);
  return math::pow(x, cast(type, DType::f32, y, false));
}

Vec less_or_equal(DType dtype, Vec a, Vec b) {
  if (is_floating(dtype)) return a.with(a.b().CreateFCmpOLE(a.value, b.value));
  return !less(dtype, b, a);
}

Vec prelu(DType dtype, Vec x, Vec slope) {
  return is_floating(dtype) || is_signed(dtype) ? select(x < 0, x * slope, x) : x;
}

Vec binary(const LoopNest& nest, const Expr& e, DType from, Vec a, Vec b) {
  const bool is_real = is_floating(from);
  switch (e.op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return is_real ? a / b : divide_integers(from, a, b);
    case Op::Mod:
      if (is_real) cannot_emit(e);
      return modulo_integers(from, a, b, e.integer == 1);
    case Op::Pow: return power(nest, e, a, b);
    case Op::Max: return larger(from, a, b);
    case Op::Min: return smaller(from, a, b);
    case Op::LogicalAnd:
    case Op::BitwiseAnd: return a & b;
    case Op::LogicalOr:
    case Op::BitwiseOr: return a | b;
    case Op::LogicalXor:
    case Op::BitwiseXor: return a.with(a.b().CreateXor(a.value, b.value));
    case Op::ShiftLeft:
    case Op::ShiftRight: return shift(e.op, a, b);
    case Op::Equal: return a == b;
    case Op::Less: return less(from, a, b);
    case Op::LessOrEqual: return less_or_equal(from, a, b);
    case Op::Prelu: return prelu(from, a, b);
    default: cannot_emit(e);
  }
}

}  // namespace

Vec less(DType dtype, Vec a, Vec b) {
  if (is_floating(dtype) || is_signed(dtype)) return a < b;
  return a.with(a.b().CreateICmpULT(a.value, b.value));
}

Vec larger(DType dtype, Vec a, Vec b) {
  const Vec result = select(less(dtype, a, b), b, a);  // a where b is NaN
  return is_floating(dtype) && !is_never_nan(b) ? select(is_nan(b), b, result) : result;
}

Vec smaller(DType dtype, Vec a, Vec b) {
  const Vec result = select(less(dtype, b, a), b, a);
  return is_floating(dtype) && !is_never_nan(b) ? select(is_nan(b), b, result) : result;
}

llvm::Value* emit_op(FunctionEmitter& emitter, const LoopNest& nest, const Expr& e,
                     FunctionEmitter::Values args) {
  auto arg = [&](size_t i) { return Vec{&emitter, args.at(i)}; };
  if (e.op == Op::Select) return select(arg(0), arg(1), arg(2)).value;
  const DType from = arithmetic_type(nest.exprs.at(static_cast<size_t>(e.args.at(0))).dtype);
  if (e.op == Op::Clamp) return smaller(from, larger(from, arg(0), arg(1)), arg(2)).value;
  return args.size() == 1 ? unary(nest, e, from, arg(0)).value : binary(nest, e, from, arg(0), arg(1)).value;
}

llvm::Value* emit_fold(FunctionEmitter& emitter, Op op, DType dtype, llvm::Value* a, llvm::Value* b) {
  const Vec x{&emitter, a}, y{&emitter, b};
  switch (op) {
    case Op::ReduceSum: return (x + y).value;
    case Op::ReduceProd: return (x * y).value;
    case Op::ReduceMax: return larger(dtype, x, y).value;
    default: return smaller(dtype, x, y).value;
  }
}

llvm::Value* fold_identity(FunctionEmitter& emitter, Op op, DType dtype) {
  if (op == Op::ReduceSum) return emitter.constant(dtype, 0, 0);
  if (op == Op::ReduceProd) return emitter.constant(dtype, 1, 1);
  return with_wide(dtype, [&](auto zero) {
    const auto ends = extremes<decltype(zero)>(dtype);
    const auto end = op == Op::ReduceMax ? ends.lowest : ends.highest;
    return emitter.constant(dtype, static_cast<double>(end),
                            is_floating(dtype) ? 0 : static_cast<int64_t>(end));
  });
}

}  // namespace ingot::kernel
