#include <cmath>
#include <limits>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "ir/arithmetic.h"

namespace ingot::reference {
namespace {

// out[i] = f(x[i]), in the wide type of x.
template <class F>
void map(KernelContext& c, F f) {
  with_wide(c.in(0).dtype(), [&](auto zero) {
    using W = decltype(zero);
    transform<W, W>(c.out(0), f, c.in(0));
  });
}

// The same for ops that only floating types have.
template <class F>
void map_real(KernelContext& c, F f) {
  transform<double, double>(c.out(0), f, c.in(0));
}

template <class F>
void test_real(KernelContext& c, F f) {
  transform<double, uint64_t>(
      c.out(0), [&](double x) { return f(x) ? 1 : 0; }, c.in(0));
}

void abs(KernelContext& c) {
  map(c, [](auto x) {
    if constexpr (std::is_same_v<decltype(x), double>)
      return std::fabs(x);
    else
      return x < decltype(x){0} ? negate(x) : x;
  });
}
void neg(KernelContext& c) {
  map(c, [](auto x) { return negate(x); });
}
void sign(KernelContext& c) {
  map(c, [](auto x) { return sign_of(x); });
}
void relu(KernelContext& c) {
  map(c, [](auto x) { return x < decltype(x){0} ? decltype(x){0} : x; });
}
void logical_not(KernelContext& c) {
  map(c, [](auto x) { return static_cast<decltype(x)>(x == 0); });
}
void bitwise_not(KernelContext& c) {
  map(c, [](auto x) {
    if constexpr (std::is_same_v<decltype(x), double>)
      return x;
    else
      return static_cast<decltype(x)>(~x);
  });
}
void is_nan(KernelContext& c) {
  test_real(c, [](double x) { return std::isnan(x); });
}
void is_inf(KernelContext& c) {
  const auto& a = c.attrs<IsInfAttrs>();
  test_real(c, [&](double x) { return std::isinf(x) && (x > 0 ? a.positive : a.negative); });
}

}  // namespace

void add_pointwise_unary_kernels(KernelTable& t) {
  t[Op::Abs] = abs;
  t[Op::Neg] = neg;
  t[Op::Sign] = sign;
  t[Op::Relu] = relu;
  t[Op::LogicalNot] = logical_not;
  t[Op::BitwiseNot] = bitwise_not;
  t[Op::IsNan] = is_nan;
  t[Op::IsInf] = is_inf;
#define REAL_FUNCTION(Name, f) t[Op::Name] = [](KernelContext& c) { map_real(c, [](double x) { return f; }); }
  REAL_FUNCTION(Ceil, std::ceil(x));
  REAL_FUNCTION(Floor, std::floor(x));
  REAL_FUNCTION(Round, std::nearbyint(x));
  REAL_FUNCTION(Sqrt, std::sqrt(x));
  REAL_FUNCTION(Reciprocal, 1.0 / x);
  REAL_FUNCTION(Exp, std::exp(x));
  REAL_FUNCTION(Log, std::log(x));
  REAL_FUNCTION(Sin, std::sin(x));
  REAL_FUNCTION(Cos, std::cos(x));
  REAL_FUNCTION(Tan, std::tan(x));
  REAL_FUNCTION(Asin, std::asin(x));
  REAL_FUNCTION(Acos, std::acos(x));
  REAL_FUNCTION(Atan, std::atan(x));
  REAL_FUNCTION(Sinh, std::sinh(x));
  REAL_FUNCTION(Cosh, std::cosh(x));
  REAL_FUNCTION(Tanh, std::tanh(x));
  REAL_FUNCTION(Asinh, std::asinh(x));
  REAL_FUNCTION(Acosh, std::acosh(x));
  REAL_FUNCTION(Atanh, std::atanh(x));
  REAL_FUNCTION(Erf, std::erf(x));
  REAL_FUNCTION(Sigmoid, sigmoid(x));
#undef REAL_FUNCTION
}

}  // namespace ingot::reference
