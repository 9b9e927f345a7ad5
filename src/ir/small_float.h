#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "ir/numeric.h"

// The small floating-point formats as constants, so that bulk loops over one format fold to a few
// instructions.
namespace ingot::small_float {

constexpr int kMantissaOfDouble = 52;
constexpr int kBiasOfDouble = 1023;

// 2^exponent, for exponents of normal doubles.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kBiasOfDouble) << kMantissaOfDouble);
}

// Sign, exponent, mantissa. Magnitudes are the code without the sign bit.
struct Format {
  int mantissa;
  int bias;
  uint32_t sign;      // the sign bit
  uint32_t largest;   // magnitude of the largest finite value
  uint32_t infinity;  // its magnitude; 0 when the format has none
  uint32_t nan;       // code of a positive NaN
  enum Overflow : uint8_t { to_infinity, as_asked, clamp } overflow;
  bool one_zero;  // no negative zero: the code with only the sign bit is the one NaN

  constexpr double decode(uint32_t code) const {
    const uint32_t magnitude = code & (sign - 1);
    if (one_zero && code == sign) return std::numeric_limits<double>::quiet_NaN();
    uint64_t bits = 0;
    if (magnitude > largest) {
      bits = std::bit_cast<uint64_t>(magnitude == infinity ? std::numeric_limits<double>::infinity()
                                                           : std::numeric_limits<double>::quiet_NaN());
    } else if (magnitude >> mantissa == 0) {
      bits = std::bit_cast<uint64_t>(magnitude * power_of_two(1 - bias - mantissa));
    } else {
      bits = (static_cast<uint64_t>(magnitude) << (kMantissaOfDouble - mantissa)) +
             (static_cast<uint64_t>(kBiasOfDouble - bias) << kMantissaOfDouble);
    }
    return std::bit_cast<double>(bits | ((code & sign) != 0 ? uint64_t{1} << 63 : 0));
  }

  constexpr uint32_t encode(double value, bool saturate) const {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const uint32_t sign_bit = (bits >> 63) != 0 ? sign : 0;
    const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
    if (value != value) return one_zero || overflow == clamp ? nan : nan | sign_bit;
    uint64_t code = round_magnitude(magnitude);
    if (code > largest) {
      const bool clamps = overflow == clamp || (overflow == as_asked && saturate);
      if (!clamps && infinity == 0) return one_zero ? nan : nan | sign_bit;
      code = clamps ? largest : infinity;
    }
    return one_zero && code == 0 ? 0 : static_cast<uint32_t>(code) | sign_bit;
  }

 private:
  // Rounds the bits of a non-negative double, to nearest even, as if the exponent had no upper end. A carry
  // out of the mantissa lands in the exponent, where it belongs.
  constexpr uint64_t round_magnitude(uint64_t magnitude) const {
    const int exponent = static_cast<int>(magnitude >> kMantissaOfDouble) - kBiasOfDouble + bias;
    const uint64_t fraction = magnitude & ((uint64_t{1} << kMantissaOfDouble) - 1);
    int shift = kMantissaOfDouble - mantissa;
    uint64_t exact = 0;
    if (exponent >= 1) {
      exact = (static_cast<uint64_t>(exponent) << kMantissaOfDouble) | fraction;
    } else {
      shift += 1 - exponent;
      if (shift > kMantissaOfDouble + 1) return 0;  // below half of the smallest value
      exact = fraction | (uint64_t{1} << kMantissaOfDouble);
    }
    const uint64_t kept = exact >> shift;
    const uint64_t rest = exact & ((uint64_t{1} << shift) - 1);
    const uint64_t half = uint64_t{1} << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
  }
};

inline constexpr Format kF16{10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00, Format::to_infinity, false};
inline constexpr Format kBf16{7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0, Format::to_infinity, false};
inline constexpr Format kF8e4m3fn{3, 7, 0x80, 0x7e, 0, 0x7f, Format::as_asked, false};
inline constexpr Format kF8e5m2{2, 15, 0x80, 0x7b, 0x7c, 0x7e, Format::as_asked, false};
inline constexpr Format kF8e4m3fnuz{3, 8, 0x80, 0x7f, 0, 0x80, Format::as_asked, true};
inline constexpr Format kF8e5m2fnuz{2, 16, 0x80, 0x7f, 0, 0x80, Format::as_asked, true};
inline constexpr Format kF4e2m1{1, 1, 0x8, 0x7, 0, 0x8, Format::clamp, false};

// An exponent alone: code c is 2^(c - 127).
struct E8m0 {
  static constexpr uint32_t kNan = 0xff;
  static constexpr uint32_t kLargest = 0xfe;

  static constexpr double decode(uint32_t code) {
    return code == kNan ? std::numeric_limits<double>::quiet_NaN()
                        : power_of_two(static_cast<int>(code) - 127);
  }

  static constexpr uint32_t encode(double value, EncodeOptions options) {
    if (!(value >= 0)) return kNan;
    if (value == 0) return options.saturate ? 0 : kNan;
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const uint64_t fraction = bits & ((uint64_t{1} << kMantissaOfDouble) - 1);
    constexpr uint64_t kHalf = uint64_t{1} << (kMantissaOfDouble - 1);
    int code = static_cast<int>(bits >> kMantissaOfDouble) - kBiasOfDouble + 127;
    if (options.e8m0 == E8m0Round::up && fraction != 0) ++code;
    if (options.e8m0 == E8m0Round::nearest && fraction >= kHalf) ++code;
    if (options.e8m0 == E8m0Round::up && code < 0) code = 0;
    if (code >= 0 && code <= static_cast<int>(kLargest)) return static_cast<uint32_t>(code);
    if (!options.saturate) return kNan;
    return code < 0 ? 0 : kLargest;
  }
};

}  // namespace ingot::small_float
