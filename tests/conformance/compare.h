#pragma once

#include <string>

#include "ingot/tensor.h"

namespace ingot::conformance {

struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
  bool values = true;  // false: types and shapes only, for results nobody can reproduce
};

// Empty when `actual` equals `expected` within |actual - expected| <= a + relative * |expected|, NaN equal to
// NaN, types and shapes exactly; otherwise says where it differs first. `a` is the absolute tolerance or,
// where that is more, 1e-5 of the largest expected value, at most 1e-5: two inverse DFT cases need it, for
// values that cancel to nearly zero.
std::string difference(const Datum& expected, const Datum& actual, const Tolerance& tolerance);

}  // namespace ingot::conformance
