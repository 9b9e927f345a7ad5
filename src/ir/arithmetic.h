#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <type_traits>

#include "ingot/dtype.h"

// What the pointwise ops do to one element, in the wide types that the reference kernels and the interpreter
// of loop nests compute in: double, int64_t, and uint64_t for unsigned integers and booleans.
namespace ingot {

// Calls f with a zero of the wide type of a dtype: with_wide(dtype, [&](auto zero) { using W =
// decltype(zero); ... }).
template <class F>
decltype(auto) with_wide(DType dtype, F f) {
  if (is_floating(dtype)) return f(double{});
  if (is_signed_integer(dtype)) return f(int64_t{});
  return f(uint64_t{});
}

// Integer overflow wraps, so signed numbers are added, subtracted and multiplied as unsigned ones.
template <class W, class F>
W wrapping(W a, W b, F f) {
  if constexpr (std::is_same_v<W, int64_t>)
    return static_cast<W>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return f(a, b);
}

template <class W>
W negate(W x) {
  if constexpr (std::is_same_v<W, double>)
    return -x;
  else
    return static_cast<W>(-static_cast<uint64_t>(x));
}

// As NumPy's maximum and minimum: NaN wins.
template <class W>
W larger(W a, W b) {
  if constexpr (std::is_same_v<W, double>)
    if (std::isnan(a) || std::isnan(b)) return a + b;
  return a < b ? b : a;
}
template <class W>
W smaller(W a, W b) {
  if constexpr (std::is_same_v<W, double>)
    if (std::isnan(a) || std::isnan(b)) return a + b;
  return b < a ? b : a;
}

// Integer division truncates; by zero it gives 0, and the lowest number by -1 wraps to itself.
template <class W>
W divide(W a, W b) {
  if constexpr (std::is_same_v<W, double>)
    return a / b;
  else if (b == 0)
    return 0;
  else if (std::is_signed_v<W> && b == static_cast<W>(-1))
    return wrapping(W{0}, a, std::minus<>());
  else
    return static_cast<W>(a / b);
}

// Remainder with the sign of the divisor, or of the dividend if `truncate`. An integer modulo 0 is 0.
template <class W>
W modulo(W a, W b, bool truncate) {
  if constexpr (std::is_same_v<W, double>) {
    double r = std::fmod(a, b);
    return !truncate && r != 0 && (r < 0) != (b < 0) ? r + b : r;
  } else {
    if (b == 0 || (std::is_signed_v<W> && b == static_cast<W>(-1))) return 0;
    W r = a % b;
    return !truncate && r != 0 && (r < 0) != (b < 0) ? static_cast<W>(r + b) : r;
  }
}

// Integer powers by squaring, wrapping on overflow; a negative exponent truncates the fraction to zero.
template <class W>
W integer_power(W base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (std::is_signed_v<W> && base == static_cast<W>(-1)) return exponent % 2 == 0 ? W{1} : base;
    return 0;
  }
  auto result = uint64_t{1}, square = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1, square *= square)
    if (e & 1) result *= square;
  return static_cast<W>(result);
}

template <class W>
struct Extremes {
  W lowest, highest;
};

// The ends of an element type: infinities for floating types.
template <class W>
Extremes<W> extremes(DType dtype) {
  int bits = bit_width(dtype);
  if constexpr (std::is_same_v<W, double>)
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  else if (dtype == DType::boolean)
    return {W{0}, W{1}};
  else
    return {static_cast<W>(std::numeric_limits<W>::min() >> (64 - bits)),
            static_cast<W>(std::numeric_limits<W>::max() >> (64 - bits))};
}

// -1, 0 or 1; NaN stays NaN.
template <class W>
W sign_of(W x) {
  if constexpr (std::is_same_v<W, double>)
    if (std::isnan(x)) return x;
  return static_cast<W>((x > 0) - (x < 0));
}

template <class W>
W prelu(W x, W slope) {
  return x < W{0} ? wrapping(x, slope, std::multiplies<>()) : x;
}

inline uint64_t shift_left(uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; }
inline uint64_t shift_right(uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; }

// How many numbers start, start + step, ... come before `limit`; -1 for too many. `step` is not 0.
template <class W>
int64_t range_count(W start, W limit, W step) {
  if constexpr (std::is_same_v<W, double>) {
    double n = std::ceil((limit - start) / step);
    return std::isfinite(n) && n < 0x1p62 ? std::max<int64_t>(static_cast<int64_t>(n), 0) : -1;
  } else {
    bool up = step > 0;
    if (up ? start >= limit : start <= limit) return 0;
    // As unsigned numbers the differences cannot overflow.
    uint64_t span = up ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                       : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    uint64_t by = up ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    return static_cast<int64_t>(std::min<uint64_t>((span - 1) / by + 1, INT64_MAX));
  }
}

// Activations; each keeps its relative accuracy in the tails.
inline double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
inline double hard_sigmoid(double x, double alpha, double beta) {
  return std::min(std::max(alpha * x + beta, 0.0), 1.0);
}
inline double gelu_erf(double x) { return 0.5 * x * std::erfc(-x * (std::numbers::sqrt2 / 2)); }
inline double gelu_tanh(double x) {
  return x * sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x));
}

}  // namespace ingot
