#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "device/cpu/routines/simd.h"

// Functions of one float that compilers turn into vector code in a loop of an INGOT_SIMD function. NaN gives
// NaN.
namespace ingot::cpu {

// e^x, within 2 ulp where the result is normal: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2].
INGOT_INLINE float fast_exp(float x) {
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRounder = 12582912;  // 1.5 * 2^23: adding it leaves an integer in the low bits
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const float shifted = x * kLog2E + kRounder, n = shifted - kRounder;
  const float r = x - n * kLn2High - n * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // In two steps, so that results down to the smallest and up to infinity come out.
  const int32_t power = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRounder), half = power >> 1;
  const auto power_of_two = [](int32_t e) { return std::bit_cast<float>((e + 127) << 23); };
  return p * power_of_two(half) * power_of_two(power - half);
}

// Within 3 ulp where the result is normal.
INGOT_INLINE float fast_sigmoid(float x) {
  const float e = fast_exp(-std::fabs(x)), s = 1.0f / (1.0f + e);
  return x < 0 ? e * s : s;
}

// Within 3 ulp.
INGOT_INLINE float fast_tanh(float x) {
  const float a = std::fabs(x), z = x * x;
  float p = -5.70498872745e-3f;  // near zero, where the other form cancels: Cephes' tanhf
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * x + x, far = 1.0f - 2.0f / (fast_exp(2 * a) + 1.0f);
  return a < 0.625f ? near : std::copysign(far, x);
}

}  // namespace ingot::cpu
