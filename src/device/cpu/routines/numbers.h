#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ingot/dtype.h"
#include "ingot/error.h"

// Arithmetic in the element type itself, for types that C++ has.
namespace ingot::cpu {

inline bool is_number(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || (is_integer(dtype) && bit_width(dtype) >= 8);
}

// Calls f with a zero of the type; is_number() must hold.
template <class F>
decltype(auto) with_number(DType dtype, F f) {
  switch (dtype) {
    case DType::f64: return f(double{});
    case DType::f32: return f(float{});
    case DType::i64: return f(int64_t{});
    case DType::i32: return f(int32_t{});
    case DType::i16: return f(int16_t{});
    case DType::i8: return f(int8_t{});
    case DType::u64: return f(uint64_t{});
    case DType::u32: return f(uint32_t{});
    case DType::u16: return f(uint16_t{});
    case DType::u8: return f(uint8_t{});
    default: break;
  }
  throw Error({.code = ErrorCode::internal,
               .object = "element type",
               .expected = "a number of C++",
               .observed = std::string(to_string(dtype))});
}

// Integer overflow wraps.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class T>
T wrapping_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

// NaN wins, as in NumPy.
template <class T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return a + b;
  return a < b ? b : a;
}
template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return a + b;
  return b < a ? b : a;
}

}  // namespace ingot::cpu
