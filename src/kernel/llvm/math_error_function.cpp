#include <numbers>

#include "kernel/llvm/math_coefficients.h"
#include "kernel/llvm/vector_math.h"

namespace ingot::kernel::math {

Vec erf(Vec x) {
  const Vec a = at_least(at_most(x, 3.93), -3.93);
  const Vec s = a * a;
  const Vec y = a * polynomial(s, kErfTop) / polynomial(s, kErfBottom);
  return at_least(at_most(y, 1), -1);
}

// max(x, 0) - |x| T with T = erfc(|x| / sqrt(2)) / 2: nothing cancels, in either tail. T is exp(-x^2 / 2)
// times a smooth function; the square is carried in two parts, since its rounding would grow in the
// exponential, and the power keeps T |x| from underflow. T is 0 at the limit, which makes NaN of negative
// infinity, as x times 0 does.
Vec gelu_erf(Vec x) {
  const Vec a = at_most(abs(x), 16);
  const Vec half = a * -0.5;
  const Vec square = a * half;
  const Vec low = fma(a, half, -square);
  const Vec e = exp_of_parts(square, low, 0x1p24);
  const Vec tail = e * polynomial(a, kGeluTailTop) / polynomial(a, kGeluTailBottom);
  const Vec negative = select(x < -a, x, -a);
  return fma(tail, negative * 0x1p-24, at_least(x, 0));
}

// x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3), scaled as in swish.
Vec gelu_tanh(Vec x) {
  constexpr double kSlope = 1.5957691216057308;  // 2 sqrt(2 / pi)
  const Vec u = x * fma(x * x, kSlope * 0.044715, kSlope);
  const Vec e = exp(-u, 0x1p-8);
  return x * 0x1p-8 / (e + 0x1p-8);
}

}  // namespace ingot::kernel::math
