#include "device/cpu/exact_quotient.h"

#include <cmath>

namespace ingot::cpu {
namespace {

// Beyond these, products may be denormal or infinite.
constexpr float kSmallest = 0x1p-80f;
constexpr float kLargest = 0x1p80f;

float by_division(float x, float scale) { return std::nearbyint(x / scale); }

float by_product(float x, const ExactQuotient& q) {
  return std::nearbyint(std::fma(x, q.inverse, x * q.rest));
}

// Both quotients are within 1.5 units in the last place of the true one, so they round to different integers
// only within a few floats of where that is half of an odd number.
bool agree_around(float middle, float scale, const ExactQuotient& q) {
  constexpr int kFloats = 6;
  float x = middle;
  for (int i = 0; i < kFloats; ++i) x = std::nextafter(x, -INFINITY);
  for (int i = 0; i <= 2 * kFloats; ++i, x = std::nextafter(x, INFINITY))
    if (by_division(x, scale) != by_product(x, q)) return false;
  return true;
}

}  // namespace

std::optional<ExactQuotient> exact_quotient(float scale, int64_t zero, DType to) {
  if (!(scale >= kSmallest && scale <= kLargest) || bit_width(to) != 8 || !is_integer(to))
    return std::nullopt;
  const int64_t least = is_signed_integer(to) ? -128 : 0;
  const auto low = static_cast<float>(least - zero), high = static_cast<float>(least + 255 - zero);
  const double inverse = 1.0 / static_cast<double>(scale);
  ExactQuotient q{.low = low * scale, .high = high * scale, .inverse = static_cast<float>(inverse)};
  q.rest = static_cast<float>(inverse - static_cast<double>(q.inverse));
  if (by_product(q.low, q) != low || by_product(q.high, q) != high) return std::nullopt;
  for (int64_t n = least - zero; n < least + 255 - zero; ++n)
    if (!agree_around((static_cast<float>(n) + 0.5f) * scale, scale, q)) return std::nullopt;
  return q;
}

}  // namespace ingot::cpu
