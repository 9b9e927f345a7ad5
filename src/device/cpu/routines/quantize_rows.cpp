#include "device/cpu/routines/quantize_rows.h"

#include <bit>
#include <cmath>
#include <limits>

#include "device/cpu/routines/lanes.h"

namespace ingot::cpu {
namespace {

// Adding it rounds to nearest, ties to even, and leaves the integer in the low bits: 1.5 * 2^23.
constexpr float kRounder = 12582912;

// Clamped before it is rounded, which for whole bounds is the same and keeps the number small.
template <class Q>
INGOT_INLINE Q quantize_one(float x, float scale, Q zero) {
  const auto z = static_cast<float>(zero);
  const float low = static_cast<float>(std::numeric_limits<Q>::min()) - z;
  const float high = static_cast<float>(std::numeric_limits<Q>::max()) - z;
  float q = x / scale;
  q = q == q ? q : -z;
  q = q < low ? low : q;
  q = q > high ? high : q;
  const int32_t whole = std::bit_cast<int32_t>(q + kRounder) - std::bit_cast<int32_t>(kRounder);
  return static_cast<Q>(whole + zero);
}

template <class Q>
INGOT_INLINE float dequantize_one(Q x, float scale, Q zero) {
  if constexpr (sizeof(Q) < sizeof(int32_t))
    return static_cast<float>(x - zero) * scale;
  else  // the difference may need more bits than f32 has
    return static_cast<float>((static_cast<double>(x) - static_cast<double>(zero)) *
                              static_cast<double>(scale));
}

}  // namespace

template <class Q>
INGOT_SIMD void quantize_row(Row<const float> x, Row<const float> scale, Row<const Q> zero, Row<Q> y,
                             int64_t count) {
  const float s = *scale.data;
  const Q z = *zero.data;
  if (x.step == 1 && y.step == 1 && scale.step == 0 && zero.step == 0)
    for (int64_t i = 0; i < count; ++i) y.data[i] = quantize_one(x.data[i], s, z);
  else if (x.step == 1 && y.step == 1 && scale.step == 1 && zero.step == 0)
    for (int64_t i = 0; i < count; ++i) y.data[i] = quantize_one(x.data[i], scale.data[i], z);
  else if (x.step == 1 && y.step == 1 && scale.step == 1 && zero.step == 1)
    for (int64_t i = 0; i < count; ++i) y.data[i] = quantize_one(x.data[i], scale.data[i], zero.data[i]);
  else
    for (int64_t i = 0; i < count; ++i)
      y.data[i * y.step] =
          quantize_one(x.data[i * x.step], scale.data[i * scale.step], zero.data[i * zero.step]);
}

template <class Q>
INGOT_SIMD void dequantize_row(Row<const Q> x, Row<const float> scale, Row<const Q> zero, Row<float> y,
                               int64_t count) {
  const float s = *scale.data;
  const Q z = *zero.data;
  if (x.step == 1 && y.step == 1 && scale.step == 0 && zero.step == 0)
    for (int64_t i = 0; i < count; ++i) y.data[i] = dequantize_one(x.data[i], s, z);
  else if (x.step == 1 && y.step == 1 && scale.step == 1 && zero.step == 0)
    for (int64_t i = 0; i < count; ++i) y.data[i] = dequantize_one(x.data[i], scale.data[i], z);
  else if (x.step == 1 && y.step == 1 && scale.step == 1 && zero.step == 1)
    for (int64_t i = 0; i < count; ++i) y.data[i] = dequantize_one(x.data[i], scale.data[i], zero.data[i]);
  else
    for (int64_t i = 0; i < count; ++i)
      y.data[i * y.step] =
          dequantize_one(x.data[i * x.step], scale.data[i * scale.step], zero.data[i * zero.step]);
}

void Range::add(const Range& other) {
  const bool is_nan = std::isnan(low) || std::isnan(other.low);
  low = is_nan ? std::numeric_limits<float>::quiet_NaN() : std::min(low, other.low);
  high = is_nan ? low : std::max(high, other.high);
}

INGOT_SIMD Range row_range(Row<const float> x, int64_t count) {
  Range range;
  bool is_nan = false;
  int64_t i = 0;
  if (x.step == 1) {
    Lanes low = {}, high = {}, difference = {};
    for (; i + kLanes <= count; i += kLanes) {
      const Lanes v = lanes(x.data + i);
      low = v < low ? v : low;
      high = v > high ? v : high;
      difference = v == v ? difference : v;
    }
    for (int64_t k = 0; k < kLanes; ++k) {
      range.low = std::min(range.low, low[k]);
      range.high = std::max(range.high, high[k]);
      is_nan |= std::isnan(difference[k]);
    }
  }
  for (; i < count; ++i) {
    const float v = x.data[i * x.step];
    range.low = std::min(range.low, v);
    range.high = std::max(range.high, v);
    is_nan |= std::isnan(v);
  }
  if (is_nan) range.low = range.high = std::numeric_limits<float>::quiet_NaN();
  return range;
}

#define INGOT_ROWS(Q)                                                                            \
  template void quantize_row(Row<const float>, Row<const float>, Row<const Q>, Row<Q>, int64_t); \
  template void dequantize_row(Row<const Q>, Row<const float>, Row<const Q>, Row<float>, int64_t);
INGOT_ROWS(uint8_t)
INGOT_ROWS(int8_t)
INGOT_ROWS(uint16_t)
INGOT_ROWS(int16_t)
template void dequantize_row(Row<const int32_t>, Row<const float>, Row<const int32_t>, Row<float>, int64_t);
#undef INGOT_ROWS

}  // namespace ingot::cpu
