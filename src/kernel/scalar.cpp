#include "kernel/scalar.h"

#include <cmath>

#include "ingot/error.h"
#include "ir/op_info.h"

namespace ingot::kernel {
namespace {

[[noreturn]] void no_meaning(const Expr& e) {
  throw Error({.code = ErrorCode::internal,
               .object = "loop nest",
               .expected = "a pointwise op with a meaning for one element",
               .observed = std::string(to_string(e.op))});
}

double real_function(const Expr& e, double x) {
  switch (e.op) {
    case Op::Ceil: return std::ceil(x);
    case Op::Floor: return std::floor(x);
    case Op::Round: return std::nearbyint(x);
    case Op::Sqrt: return std::sqrt(x);
    case Op::Reciprocal: return 1.0 / x;
    case Op::Exp: return std::exp(x);
    case Op::Log: return std::log(x);
    case Op::Sin: return std::sin(x);
    case Op::Cos: return std::cos(x);
    case Op::Tan: return std::tan(x);
    case Op::Asin: return std::asin(x);
    case Op::Acos: return std::acos(x);
    case Op::Atan: return std::atan(x);
    case Op::Sinh: return std::sinh(x);
    case Op::Cosh: return std::cosh(x);
    case Op::Tanh: return std::tanh(x);
    case Op::Asinh: return std::asinh(x);
    case Op::Acosh: return std::acosh(x);
    case Op::Atanh: return std::atanh(x);
    case Op::Erf: return std::erf(x);
    case Op::Sigmoid: return sigmoid(x);
    default: no_meaning(e);
  }
}

double activation(const Expr& e, double x) {
  if (std::isnan(x)) return x;
  switch (e.op) {
    case Op::Elu: return x < 0 ? e.real * std::expm1(x) : x;
    case Op::Gelu: return e.integer == 1 ? gelu_tanh(x) : gelu_erf(x);
    case Op::HardSigmoid: return hard_sigmoid(x, e.real, e.real2);
    case Op::HardSwish: return x * hard_sigmoid(x, 1.0 / 6, 0.5);
    case Op::LeakyRelu: return x < 0 ? e.real * x : x;
    case Op::Mish: return x * std::tanh(softplus(x));
    case Op::Softplus: return softplus(x);
    case Op::Swish: return x * sigmoid(e.real * x);
    default: return real_function(e, x);
  }
}

template <class W>
W unary(const Expr& e, W x) {
  switch (e.op) {
    case Op::Abs: return std::is_same_v<W, double> ? static_cast<W>(std::fabs(x)) : x < W{0} ? negate(x) : x;
    case Op::Neg: return negate(x);
    case Op::Sign: return sign_of(x);
    case Op::Relu: return x < W{0} ? W{0} : x;
    case Op::LogicalNot: return static_cast<W>(x == 0);
    default: break;
  }
  if constexpr (std::is_same_v<W, double>)
    return activation(e, x);
  else if (e.op == Op::BitwiseNot)
    return static_cast<W>(~x);
  no_meaning(e);
}

template <class W>
W arithmetic(const Expr& e, W a, W b) {
  switch (e.op) {
    case Op::Add: return wrapping(a, b, std::plus<>());
    case Op::Sub: return wrapping(a, b, std::minus<>());
    case Op::Mul: return wrapping(a, b, std::multiplies<>());
    case Op::Div: return divide(a, b);
    case Op::Mod: return modulo(a, b, e.integer == 1);
    case Op::Max: return larger(a, b);
    case Op::Min: return smaller(a, b);
    case Op::Prelu: return prelu(a, b);
    default: no_meaning(e);
  }
}

uint64_t bitwise(const Expr& e, uint64_t a, uint64_t b) {
  switch (e.op) {
    case Op::LogicalAnd:
    case Op::BitwiseAnd: return a & b;
    case Op::LogicalOr:
    case Op::BitwiseOr: return a | b;
    case Op::LogicalXor:
    case Op::BitwiseXor: return a ^ b;
    case Op::ShiftLeft: return shift_left(a, b);
    case Op::ShiftRight: return shift_right(a, b);
    default: no_meaning(e);
  }
}

bool is_bitwise(Op op) {
  switch (op) {
    case Op::LogicalAnd:
    case Op::LogicalOr:
    case Op::LogicalXor:
    case Op::BitwiseAnd:
    case Op::BitwiseOr:
    case Op::BitwiseXor:
    case Op::ShiftLeft:
    case Op::ShiftRight: return true;
    default: return false;
  }
}

template <class W>
bool compare(Op op, W a, W b) {
  return op == Op::Equal ? a == b : op == Op::Less ? a < b : a <= b;
}

bool is_comparison(Op op) { return op == Op::Equal || op == Op::Less || op == Op::LessOrEqual; }

Scalar power(const Expr& e, const Scalar& a, const Scalar& b) {
  if (is_floating(a.dtype) || is_floating(b.dtype))
    return scalar(e.dtype, std::pow(a.as<double>(), b.as<double>()));
  return with_wide(a.dtype, [&](auto zero) {
    using W = decltype(zero);
    if constexpr (std::is_same_v<W, double>)
      return a;
    else
      return scalar(e.dtype, integer_power(a.as<W>(), static_cast<int64_t>(b.as<W>())));
  });
}

Scalar apply_unary(const Expr& e, const Scalar& x) {
  switch (e.op) {
    case Op::Cast: return converted(x, e.dtype);
    case Op::BitCast:
      if (e.dtype == DType::boolean) return scalar(e.dtype, x.as<uint64_t>());
      return {e.dtype, x.bytes};
    case Op::IsNan: return scalar(e.dtype, uint64_t{std::isnan(x.as<double>())});
    case Op::IsInf: {
      const double value = x.as<double>();
      return scalar(e.dtype, uint64_t{std::isinf(value) && (e.integer & (value > 0 ? 2 : 1)) != 0});
    }
    default:
      return with_wide(x.dtype, [&](auto zero) { return scalar(e.dtype, unary(e, x.as<decltype(zero)>())); });
  }
}

Scalar apply_binary(const Expr& e, const Scalar& a, const Scalar& b) {
  if (e.op == Op::Pow) return power(e, a, b);
  if (is_bitwise(e.op)) return scalar(e.dtype, bitwise(e, a.as<uint64_t>(), b.as<uint64_t>()));
  return with_wide(a.dtype, [&](auto zero) {
    using W = decltype(zero);
    if (is_comparison(e.op)) return scalar(e.dtype, uint64_t{compare(e.op, a.as<W>(), b.as<W>())});
    return scalar(e.dtype, arithmetic(e, a.as<W>(), b.as<W>()));
  });
}

}  // namespace

Scalar pointwise(const Expr& e, std::span<const Scalar> args) {
  if (args.size() == 1) return apply_unary(e, args[0]);
  if (args.size() == 2) return apply_binary(e, args[0], args[1]);
  if (e.op == Op::Select) return args[0].as<uint64_t>() != 0 ? args[1] : args[2];
  if (e.op != Op::Clamp) no_meaning(e);
  return with_wide(e.dtype, [&](auto zero) {
    using W = decltype(zero);
    return scalar(e.dtype, smaller(larger(args[0].as<W>(), args[1].as<W>()), args[2].as<W>()));
  });
}

Scalar fused_multiply_add(std::span<const Scalar> args) {
  auto number = [&](size_t i) { return static_cast<float>(args[i].as<double>()); };
  const float sum = std::fma(number(0), number(1), number(2));
  return scalar(DType::f32, static_cast<double>(sum));
}

}  // namespace ingot::kernel
