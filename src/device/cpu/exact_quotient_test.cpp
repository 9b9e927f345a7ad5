#include "device/cpu/exact_quotient.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace ingot::cpu {
namespace {

// As the reference device: the quotient of doubles rounded to f32, then to the nearest integer.
int64_t quantised(float x, float scale, int64_t zero, int64_t least) {
  const double quotient = static_cast<float>(static_cast<double>(x) / static_cast<double>(scale));
  const double rounded = std::nearbyint(quotient) + static_cast<double>(zero);
  return static_cast<int64_t>(
      std::fmin(std::fmax(rounded, static_cast<double>(least)), static_cast<double>(least + 255)));
}

int64_t by_product(float x, const ExactQuotient& q, int64_t zero) {
  x = q.low < x ? x : q.low;
  x = x < q.high ? x : q.high;
  return static_cast<int64_t>(std::nearbyint(std::fma(x, q.inverse, x * q.rest))) + zero;
}

void expect_equal_bytes(float scale, int64_t zero, DType to, uint32_t first, uint32_t step) {
  const std::optional<ExactQuotient> q = exact_quotient(scale, zero, to);
  ASSERT_TRUE(q) << scale;
  const int64_t least = to == DType::i8 ? -128 : 0;
  for (uint64_t bits = first; bits <= 0xffffffff; bits += step) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isnan(x)) continue;
    ASSERT_EQ(by_product(x, *q, zero), quantised(x, scale, zero, least)) << x << " by " << scale;
  }
}

TEST(ExactQuotient, GivesTheByteOfTheDivisionOverTheWholeRange) {
  for (float scale : {0.0235294122f, 1.0f, 0.1f, 3.7e-5f, 219.5f, 0x1.fffffep-7f, 0x1.000002p3f})
    for (DType to : {DType::u8, DType::i8})
      for (int64_t zero : {0, 3, -77})
        expect_equal_bytes(scale, to == DType::u8 ? zero & 255 : zero, to, 5, 4999);
}

TEST(ExactQuotient, GivesTheByteOfTheDivisionAtEveryHalf) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> exponent(-20, 4);
  for (int i = 0; i < 2000; ++i) {
    const float scale = std::exp(exponent(random));
    const std::optional<ExactQuotient> q = exact_quotient(scale, 0, DType::u8);
    if (!q) continue;
    for (int n = 0; n < 256; ++n) {
      float x = (static_cast<float>(n) + 0.5f) * scale;
      for (int k = 0; k < 24; ++k) x = std::nextafter(x, 0.0f);
      for (int k = 0; k < 48; ++k, x = std::nextafter(x, INFINITY))
        ASSERT_EQ(by_product(x, *q, 0), quantised(x, scale, 0, 0)) << x << " by " << scale;
    }
  }
}

TEST(ExactQuotient, IsThereForAlmostEveryScale) {
  std::mt19937 random(5);
  int there = 0;
  for (int i = 0; i < 1000; ++i) {
    const float scale = std::bit_cast<float>(0x3c000000u + static_cast<uint32_t>(random() & 0x1ffffff));
    there += exact_quotient(scale, 128, DType::u8) ? 1 : 0;
  }
  EXPECT_GE(there, 990);
}

TEST(ExactQuotient, RefusesScalesAtTheEndsOfTheRange) {
  for (float scale : {0.0f, -1.0f, 0x1p-120f, 0x1p120f, std::nanf(""), HUGE_VALF})
    EXPECT_FALSE(exact_quotient(scale, 0, DType::u8)) << scale;
  EXPECT_FALSE(exact_quotient(1, 0, DType::i16));
}

}  // namespace
}  // namespace ingot::cpu
