#include <array>
#include <limits>
#include <numbers>

#include "kernel/llvm/math_coefficients.h"
#include "kernel/llvm/vector_math.h"

namespace ingot::kernel::math {
namespace {

// x = quadrant * pi / 2 + rest, |rest| <= pi / 4; of the quadrant the two low bits count.
struct Angle {
  Vec quadrant;  // i32
  Vec rest;
};

constexpr double kSmallAngle = 30000;  // below, three parts of pi / 2 are enough

Angle reduce_small(Vec x) {
  constexpr double kToWhole = 0x1.8p23;
  const Vec shifted = fma(x, 2 / std::numbers::pi, kToWhole);
  const Vec n = shifted - kToWhole;
  // pi / 2 in parts, the first so short that its product with n is exact.
  const Vec rest = fma(n, -0x1.846988p-48, fma(n, -0x1.5110b4p-22, fma(n, -0x1.921fb0p+00, x)));
  return {bits_of(shifted), rest};
}

// 2 / pi after the point, with 32 zeros before it.
constexpr auto kTwoOverPi =
    std::to_array<uint32_t>({0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041});

// 32 bits of 2 / pi from bit 32 * (word + k) + shift on.
class Window {
 public:
  Window(Vec word, Vec shift) : word_(word), shift_(shift) {}

  Vec bits(int k) const {
    auto& b = word_.b();
    return word_.with(b.CreateIntrinsic(llvm::Intrinsic::fshl, {word_.type()},
                                        {at(k).value, at(k + 1).value, shift_.value}));
  }

 private:
  Vec at(int k) const {
    Vec result = number(k);
    for (int w = 1; w <= 3; ++w) result = select(word_ == w, number(w + k), result);
    return result;
  }
  Vec number(int i) const { return word_.like(static_cast<double>(kTwoOverPi.at(static_cast<size_t>(i)))); }

  Vec word_, shift_;
};

Vec widened(Vec a) { return a.with(a.b().CreateZExt(a.value, a.with_element(a.b().getInt64Ty()))); }
Vec high_half(Vec a) { return a.with(a.b().CreateLShr(a.value, 32)); }

// Payne and Hanek: only the bits of 2 / pi that decide the quadrant and the rest are multiplied. Turns in 64
// bits.
Angle reduce_large(Vec x) {
  auto& b = x.b();
  const Vec bits = bits_of(abs(x));
  const Vec mantissa = widened((bits << 8) | bits.like(-0x1p31));
  const Vec offset = (bits >> 23) - 128;  // exponent - 1
  const Window window(offset >> 5, offset & 31);
  const Vec turns = high_half(mantissa * widened(window.bits(2))) + mantissa * widened(window.bits(1)) +
                    ((mantissa * widened(window.bits(0))) << 32);
  const Vec rounded = turns + turns.like(0x1p61);
  const Vec quadrant =
      turns.with(b.CreateTrunc(b.CreateLShr(rounded.value, 62), turns.with_element(b.getInt32Ty())));
  const Vec fraction = turns.with(b.CreateSIToFP((turns << 2).value, turns.with_element(b.getFloatTy())));
  const Vec rest = fraction * (std::numbers::pi / 2 * 0x1p-64);
  const Vec is_negative = x < 0;
  return {select(is_negative, -quadrant, quadrant), select(is_negative, -rest, rest)};
}

Angle reduce(Vec x) {
  const Angle small = reduce_small(x);
  const Vec is_large = x.like(kSmallAngle) < abs(x);
  auto& b = x.b();
  auto* any = b.CreateOrReduce(is_large.value);
  const auto merged = x.emitter->if_then(any, {small.quadrant.value, small.rest.value}, [&] {
    const Angle large = reduce_large(x);
    const Vec is_finite = abs(x) < std::numeric_limits<double>::infinity();
    const Vec rest = select(is_finite, large.rest, std::numeric_limits<double>::quiet_NaN());
    return FunctionEmitter::Values{select(is_large, large.quadrant, small.quadrant).value,
                                   select(is_large, rest, small.rest).value};
  });
  return {x.with(merged[0]), x.with(merged[1])};
}

Vec sin_near(Vec r) {
  const Vec s = r * r;
  return fma(s * r, polynomial(s, kSin), r);
}

Vec cos_near(Vec r) {
  const Vec s = r * r;
  return fma(s * s, polynomial(s, kCos), fma(s, -0.5, 1));
}

Vec is_bit_set(Vec quadrant, int bit) { return !((quadrant & bit) == 0); }

// The sine of the angle, `turned` quadrants on.
Vec sine(const Angle& angle, int turned) {
  const Vec quadrant = angle.quadrant + turned;
  const Vec y = select(is_bit_set(quadrant, 1), cos_near(angle.rest), sin_near(angle.rest));
  return select(is_bit_set(quadrant, 2), -y, y);
}

// asin(x) for |x| <= 1/2.
Vec asin_near(Vec x) {
  const Vec s = x * x;
  return fma(s * x, polynomial(s, kAsin), x);
}

}  // namespace

Vec sin(Vec x) { return sine(reduce(x), 0); }
Vec cos(Vec x) { return sine(reduce(x), 1); }

Vec tan(Vec x) {
  const Angle angle = reduce(x);
  const Vec s = sin_near(angle.rest), c = cos_near(angle.rest);
  const Vec is_odd = is_bit_set(angle.quadrant, 1);
  return select(is_odd, -c, s) / select(is_odd, s, c);
}

// Beyond 1/2 through the half angle: asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2)).
Vec asin(Vec x) {
  const Vec a = abs(x);
  const Vec is_far = 0.5 < a;
  const Vec half = sqrt((1 - a) * 0.5);
  const Vec near = asin_near(select(is_far, half, a));
  return with_sign_of(select(is_far, fma(near, -2, std::numbers::pi / 2), near), x);
}

Vec acos(Vec x) {
  const Vec a = abs(x);
  const Vec is_far = 0.5 < a;
  const Vec near = asin_near(select(is_far, sqrt((1 - a) * 0.5), x));
  const Vec is_negative = x < 0;
  const Vec far = select(is_negative, fma(near, -2, std::numbers::pi), near * 2);
  return select(is_far, far, std::numbers::pi / 2 - near);
}

Vec atan(Vec x) {
  const Vec a = abs(x);
  const Vec is_far = 1.0 < a;
  const Vec z = select(is_far, 1 / a, a);
  const Vec s = z * z;
  const Vec near = fma(s * z, polynomial(s, kAtan), z);
  return with_sign_of(select(is_far, std::numbers::pi / 2 - near, near), x);
}

}  // namespace ingot::kernel::math
