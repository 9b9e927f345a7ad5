#pragma once

#include <cstdint>
#include <utility>

#include "ingot/dtype.h"

// Quantisation of one row.
namespace ingot::cpu {

template <class T>
struct Row {
  T* data;
  int64_t step;  // 0: one for all
};

// y = saturate(round(x / scale) + zero), NaN gives 0; Q is an integer of 8 or 16 bits.
template <class Q>
void quantize_row(Row<const float> x, Row<const float> scale, Row<const Q> zero, Row<Q> y, int64_t count);

// y = (x - zero) * scale; Q may also be int32_t.
template <class Q>
void dequantize_row(Row<const Q> x, Row<const float> scale, Row<const Q> zero, Row<float> y, int64_t count);

// The range of numbers seen, 0 included; NaN once one was NaN.
struct Range {
  float low = 0, high = 0;
  void add(const Range& other);
};
Range row_range(Row<const float> x, int64_t count);

// Calls f with a zero of an integer type of 8 or 16 bits.
template <class F>
void with_small_integer(DType dtype, F f) {
  switch (dtype) {
    case DType::u8: return f(uint8_t{});
    case DType::i8: return f(int8_t{});
    case DType::u16: return f(uint16_t{});
    case DType::i16: return f(int16_t{});
    default: __builtin_unreachable();
  }
}

}  // namespace ingot::cpu
