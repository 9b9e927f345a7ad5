#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

// Arithmetic in the wide types that kernels compute in.
namespace ingot::reference {

// Integer overflow wraps, so signed numbers are added, subtracted and multiplied as unsigned ones.
template <class W, class F>
W wrapping(W a, W b, F f) {
  if constexpr (std::is_same_v<W, int64_t>)
    return static_cast<W>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return f(a, b);
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

}  // namespace ingot::reference
