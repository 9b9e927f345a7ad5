#pragma once

#include <array>
#include <span>

#include "ir/arithmetic.h"
#include "ir/numeric.h"
#include "kernel/loop_nest.h"

namespace ingot::kernel {

// One element of any type, as the interpreter holds it.
struct Scalar {
  DType dtype = DType::f32;
  std::array<std::byte, 8> bytes = {};

  template <class W>
  W as() const {
    W value{};
    if constexpr (std::is_same_v<W, double>)
      decode_to_f64(dtype, bytes.data(), 1, &value);
    else if constexpr (std::is_same_v<W, int64_t>)
      decode_to_i64(dtype, bytes.data(), 1, &value);
    else
      decode_to_u64(dtype, bytes.data(), 1, &value);
    return value;
  }
};

template <class W>
Scalar scalar(DType dtype, W value) {
  Scalar result{.dtype = dtype};
  if constexpr (std::is_same_v<W, double>)
    encode_from_f64(dtype, &value, 1, result.bytes.data());
  else if constexpr (std::is_same_v<W, int64_t>)
    encode_from_i64(dtype, &value, 1, result.bytes.data());
  else
    encode_from_u64(dtype, &value, 1, result.bytes.data());
  return result;
}

// The value with another type, as Cast gives it.
inline Scalar converted(const Scalar& x, DType dtype) {
  return with_wide(x.dtype, [&](auto zero) { return scalar(dtype, x.as<decltype(zero)>()); });
}

// A pointwise op of one point; rounds its result to its type.
Scalar pointwise(const Expr& e, std::span<const Scalar> args);
// ExprKind::fma of one point.
Scalar fused_multiply_add(std::span<const Scalar> args);

}  // namespace ingot::kernel
