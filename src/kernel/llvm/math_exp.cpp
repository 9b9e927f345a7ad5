#include <llvm/IR/IntrinsicsX86.h>

#include "kernel/llvm/math_coefficients.h"
#include "kernel/llvm/vector_math.h"

namespace ingot::kernel::math {
namespace {

// Adding it leaves the nearest whole number in the low bits of an f32.
constexpr double kToWhole = 0x1.8p23;
constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2High = 0.693359375,
                 kLn2Low = -2.1219444005469057e-4;  // the product with the first is exact

struct Reduced {
  Vec n;         // whole
  Vec fraction;  // x - n log(2)
};

Reduced reduce(Vec x) {
  const Vec n = fma(x, kLog2E, kToWhole) - kToWhole;
  return {n, fma(n, -kLn2Low, fma(n, -kLn2High, x))};
}

// exp(r) - 1.
Vec expm1_fraction(Vec r) { return fma(polynomial(r, kExp), r * r, r); }

Vec exp_of_reduced(Vec fraction, Vec n, double factor) {
  const Vec e = expm1_fraction(fraction);
  return scale(factor == 1 ? e + 1 : fma(e, factor, factor), n);
}

}  // namespace

Vec scale(Vec p, Vec n) {
  if (p.emitter->target().level >= IsaLevel::avx512) {
    auto* everywhere = p.b().getInt16(0xffff);
    auto* rounding = p.b().getInt32(4);  // as the control register says
    return p.with(p.b().CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                                        {p.value, n.value, p.value, everywhere, rounding}));
  }
  const Vec whole = p.with(p.b().CreateFPToSI(n.value, n.with_element(p.b().getInt32Ty())));
  const Vec half = whole >> 1;
  auto power = [](Vec e) { return from_bits((e + 127) << 23); };
  return p * power(half) * power(whole - half);
}

Vec exp(Vec x) { return exp(x, 1); }

Vec exp(Vec x, double factor) {
  const Reduced reduced = reduce(at_least(at_most(x, 149), -149));
  return exp_of_reduced(reduced.fraction, reduced.n, factor);
}

Vec exp_of_parts(Vec x, Vec low, double factor) {
  const Reduced reduced = reduce(x);
  return exp_of_reduced(reduced.fraction + low, reduced.n, factor);
}

// The limits keep 2^n a normal number; beyond the upper one e^x is computed instead.
Vec expm1(Vec x) {
  const Reduced reduced = reduce(at_least(at_most(x, 80), -80));
  const Vec power = scale(x.like(1), reduced.n);
  const Vec result = fma(power, expm1_fraction(reduced.fraction), power - 1);
  return select(result.like(80) < x, exp(x), result);
}

Vec tanh(Vec x) {
  const Vec a = at_least(at_most(x, 9.02), -9.02);
  const Vec s = a * a;
  const Vec y = a * polynomial(s, kTanhTop) / polynomial(s, kTanhBottom);
  return at_least(at_most(y, 1), -1);
}

Vec sinh(Vec x) {
  const Vec a = abs(x);
  const Vec e = expm1(at_most(a, 9));
  const Vec near = (e + e / (e + 1)) * 0.5;
  return with_sign_of(select(9.0 < a, exp(a, 0.5), near), x);
}

Vec cosh(Vec x) {
  const Vec half = exp(abs(x), 0.5);
  return half + 0.25 / half;
}

Vec sigmoid(Vec x) { return 1 / (exp(-x) + 1); }

// Everything times 2^-8, so that exp(-x) does not overflow where the result is still a normal number.
Vec swish(Vec x, double alpha) {
  const Vec e = exp(x * -alpha, 0x1p-8);
  return x * 0x1p-8 / (e + 0x1p-8);
}

Vec softplus(Vec x) {
  const Vec e = exp(-abs(x));
  return fma(e, polynomial(e, kLog1p), at_least(x, 0));
}

// tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2). For large x it is 1.
Vec mish(Vec x) {
  const Vec scaled = exp(at_most(x, 30), 0x1p8);
  const Vec e = scaled * 0x1p-8;
  const Vec n = e * (e + 2);
  return x * 0x1p-8 * (scaled * (e + 2) / (n + 2));
}

}  // namespace ingot::kernel::math
