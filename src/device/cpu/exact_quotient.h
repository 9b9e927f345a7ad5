#pragma once

#include <optional>

#include "ingot/dtype.h"

namespace ingot::cpu {

// Quantisation to bytes without a division:
//   x = low, where it is not above that or NaN; high, where it is above that
//   saturate(round(x / scale) + zero) = round(fma(x, inverse, x * rest)) + zero
// `inverse` + `rest` is 1 / scale to twice the digits of a float, so that the quotient is rounded once, as by
// a division; then round takes ties to even.
struct ExactQuotient {
  float low = 0;
  float high = 0;
  float inverse = 0;
  float rest = 0;
};

// For one scale and zero point of a type of 8 bits. Nothing where it would not give the same byte for every
// x: each place where the byte changes is tried.
std::optional<ExactQuotient> exact_quotient(float scale, int64_t zero, DType to);

}  // namespace ingot::cpu
