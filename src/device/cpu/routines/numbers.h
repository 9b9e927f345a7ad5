#pragma once

#include <cstdint>
#include <type_traits>

#include "ingot/dtype.h"
#include "ingot/error.h"

// Element types that C++ has.
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

// The wide type that the functions of ir/arithmetic.h compute in; each op on f32 rounds to what f32 would
// give.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double,
                                std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

}  // namespace ingot::cpu
