#pragma once

#include <string>
#include <vector>

#include "ingot/graph.h"

namespace ingot::devices {

// How close results of a device come to those of the reference device, which computes in double and rounds
// once. An element may be off by relative * |expected| + of_magnitude * magnitude + absolute.
struct Allowance {
  double relative = 0;
  double of_magnitude = 0;  // the magnitude is the same sum over absolute values; 0 where none is given
  double absolute = 0;
};

// What kind of error an op makes.
enum class Closeness {
  exact,     // bit by bit, any NaN for a NaN
  rounding,  // a few units in the last place
  sums,      // of products: by the magnitude of the sum
  composed,  // several of these one after the other
};
Allowance allowance(Closeness closeness, DType dtype);
double unit_roundoff(DType dtype);  // half a unit in the last place of 1; 0 for integers

// Empty when equal within the allowance, NaN equal to NaN, infinities, types and shapes exactly; else the
// first wrong element with both values.
std::string first_difference(const Datum& expected, const Datum& actual, const Allowance& allowance,
                             const Datum& magnitude = {});

double largest_finite(const Tensor& tensor);  // absolute value
std::vector<double> elements_of(const Tensor& tensor);

}  // namespace ingot::devices
