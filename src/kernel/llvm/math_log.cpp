#include <limits>
#include <numbers>

#include "kernel/llvm/math_coefficients.h"
#include "kernel/llvm/vector_math.h"

namespace ingot::kernel::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2High = 0.693359375, kLn2Low = -2.1219444005469057e-4;

struct Parts {
  Vec exponent;  // i32
  Vec mantissa;  // sqrt(1/2) <= mantissa < sqrt(2)
};

// x = mantissa * 2^exponent, for positive numbers, denormal ones included.
Parts parts_of(Vec x) {
  const Vec is_denormal = x < 0x1p-126;
  const Vec normal = select(is_denormal, x * 0x1p23, x);
  const Vec offset = bits_of(normal) - 0x3f3504f3;  // the bits of sqrt(1/2)
  const Vec exponent = (offset >> 23) - select(is_denormal, offset.like(23), 0);
  return {exponent, from_bits((offset & 0x7fffff) + 0x3f3504f3)};
}

Vec to_real(Vec whole, llvm::Type* element) {
  return whole.with(whole.b().CreateSIToFP(whole.value, whole.with_element(element)));
}

}  // namespace

Vec log(Vec x) {
  const Parts parts = parts_of(x);
  const Vec n = to_real(parts.exponent, x.b().getFloatTy());
  const Vec u = parts.mantissa - 1;
  const Vec s = u * u;
  const Vec rest = fma(s, -0.5, fma(n, kLn2Low, s * (u * polynomial(u, kLog))));
  const Vec result = fma(n, kLn2High, u + rest);
  const Vec is_positive = 0 < x;
  const Vec is_plain = is_positive & (x < kInfinity);
  return select(is_plain, result, select(x == 0, -kInfinity, select(is_positive, x, kNan)));
}

// The logarithm of the rounded sum, and what was rounded off.
Vec log1p(Vec x) {
  const Vec sum = x + 1;
  const Vec lost = x - (sum - 1);
  return log(sum) + select(sum < kInfinity, lost / sum, 0);
}

namespace {

// log1p(x), plus log(2) where x stands for half its argument lest that overflow.
Vec log1p_or_double(Vec is_half, Vec x) { return log1p(x) + select(is_half, x.like(std::numbers::ln2), 0); }

constexpr double kSquareIsAll = 1e9;  // a^2 + 1 is a^2 far below this

}  // namespace

Vec asinh(Vec x) {
  const Vec a = abs(x);
  const Vec is_large = kSquareIsAll < a;
  const Vec square = a * a;
  const Vec below = a + square / (sqrt(square + 1) + 1);
  return with_sign_of(log1p_or_double(is_large, select(is_large, a, below)), x);
}

Vec acosh(Vec x) {
  const Vec is_large = kSquareIsAll < x;
  const Vec t = x - 1;
  return log1p_or_double(is_large, select(is_large, x, t + sqrt(t) * sqrt(x + 1)));
}

Vec atanh(Vec x) {
  const Vec a = abs(x);
  return with_sign_of(log1p((a + a) / (1 - a)) * 0.5, x);
}

namespace {

// log2 |x| in f64, within 1e-11 of its size.
Vec log2_f64(Vec magnitude) {
  const Parts parts = parts_of(magnitude);
  const Vec m = to_f64(parts.mantissa);
  const Vec s = (m - 1) / (m + 1);
  const Vec square = s * s;
  const Vec atanh = fma(s * square, polynomial(square, kAtanh), s);
  const Vec result = fma(atanh, 2 / std::numbers::ln2, to_real(parts.exponent, m.b().getDoubleTy()));
  const Vec large = to_f64(magnitude);  // infinity stays
  return select(magnitude == 0, -kInfinity, select(magnitude < kInfinity, result, large));
}

Vec exp2_f64(Vec t) {
  const Vec limited = at_least(at_most(t, 200), -200);
  const Vec n = limited.call(llvm::Intrinsic::roundeven);
  return scale(polynomial(to_f32(limited - n), kExp2), to_f32(n));
}

Vec is_whole(Vec y) { return truncated(y) == y; }

}  // namespace

// As C's pow: pow(x, 0) and pow(1, y) are 1 even for NaN; a negative x needs a whole y.
Vec pow(Vec x, Vec y) {
  const Vec magnitude = abs(x);
  const Vec log2 = log2_f64(magnitude);
  Vec result = exp2_f64(select(log2 == 0, 0, to_f64(y) * log2));
  const Vec is_odd = is_whole(y) & !is_whole(y * 0.5);
  result = select(is_odd, with_sign_of(result, x), result);
  const Vec has_no_root = (x < 0) & (magnitude < kInfinity) & !is_whole(y);
  result = select(has_no_root, kNan, result);
  result = select(is_nan(x) | is_nan(y), x + y, result);
  return select((x == 1) | (y == 0), 1, result);
}

}  // namespace ingot::kernel::math
