#include "tests/devices/compare.h"

#include <algorithm>
#include <cmath>

#include "ir/numeric.h"

namespace ingot::devices {
namespace {

// Below the normal numbers a unit in the last place is no longer relative, and f32 may be flushed to zero.
double smallest_step(DType dtype) {
  switch (dtype) {
    case DType::f64: return 0x1p-1022;
    case DType::f32:
    case DType::bf16: return 0x1p-126;
    case DType::f16: return 0x1p-24;
    default: return is_floating(dtype) ? 0x1p-9 : 0;
  }
}

std::string position(const Shape& shape, int64_t index) {
  Shape at(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    at[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return to_string(at);
}

bool is_close(double want, double got, double allowed) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  return want == got || std::fabs(want - got) <= allowed;
}

std::string difference(const Tensor& expected, const Tensor& actual, const Allowance& allowance,
                       const std::vector<double>& magnitudes) {
  const std::vector<double> want = elements_of(expected), got = elements_of(actual);
  for (size_t i = 0; i < want.size(); ++i) {
    double allowed = allowance.relative * std::fabs(want[i]) + allowance.absolute;
    if (i < magnitudes.size()) allowed += allowance.of_magnitude * magnitudes[i];
    if (!is_close(want[i], got[i], std::isfinite(allowed) ? allowed : 0))
      return fmt::format("element {} is {} for {}, allowed error {}",
                         position(expected.shape(), static_cast<int64_t>(i)), got[i], want[i], allowed);
  }
  return {};
}

// 64-bit integers do not fit a double.
std::string other_bits(const Tensor& expected, const Tensor& actual) {
  std::vector<int64_t> want(static_cast<size_t>(expected.count())), got(want.size());
  decode_to_i64(expected.dtype(), expected.bytes().data(), expected.count(), want.data());
  decode_to_i64(actual.dtype(), actual.bytes().data(), actual.count(), got.data());
  const auto at = std::ranges::mismatch(want, got).in1 - want.begin();
  return fmt::format("element {} is {} for {}", position(expected.shape(), at), got[static_cast<size_t>(at)],
                     want[static_cast<size_t>(at)]);
}

std::string difference(const Tensor& expected, const Tensor& actual, const Allowance& allowance,
                       const Datum& magnitude) {
  if (expected.dtype() != actual.dtype())
    return fmt::format("type {} for {}", to_string(actual.dtype()), to_string(expected.dtype()));
  if (expected.shape() != actual.shape())
    return fmt::format("shape {} for {}", to_string(actual.shape()), to_string(expected.shape()));
  if (expected.identical(actual)) return {};
  if (expected.is_string()) return "other strings";
  if (is_integer(expected.dtype()) && bit_width(expected.dtype()) == 64) return other_bits(expected, actual);
  const std::vector<double> magnitudes =
      magnitude.is_tensor() ? elements_of(magnitude.tensor()) : std::vector<double>();
  return difference(expected, actual, allowance, magnitudes);
}

}  // namespace

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f64: return 0x1p-53;
    case DType::f32: return 0x1p-24;
    case DType::f16: return 0x1p-11;
    case DType::bf16: return 0x1p-8;
    default: return is_floating(dtype) ? 0x1p-3 : 0;
  }
}

Allowance allowance(Closeness closeness, DType dtype) {
  const double unit = unit_roundoff(dtype), step = smallest_step(dtype);
  switch (closeness) {
    case Closeness::exact: return {};
    case Closeness::rounding: return {.relative = 8 * unit, .absolute = step};
    // A value that is stored in a small type is still summed in f32.
    case Closeness::sums:
      return {.relative = 2 * unit,
              .of_magnitude = 32 * std::min(unit, unit_roundoff(DType::f32)),
              .absolute = step};
    case Closeness::composed: {
      // Decompositions are written with f32 in mind, so f64 keeps some digits less.
      const double several = (dtype == DType::f64 ? 1024 : 64) * unit;
      return {.relative = several, .absolute = several};
    }
  }
  return {};
}

std::vector<double> elements_of(const Tensor& tensor) {
  std::vector<double> elements(static_cast<size_t>(tensor.count()));
  decode_to_f64(tensor.dtype(), tensor.bytes().data(), tensor.count(), elements.data());
  return elements;
}

double largest_finite(const Tensor& tensor) {
  double largest = 0;
  for (double x : elements_of(tensor))
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  return largest;
}

std::string first_difference(const Datum& expected, const Datum& actual, const Allowance& allowance,
                             const Datum& magnitude) {
  if (expected.is_tensor() && actual.is_tensor())
    return difference(expected.tensor(), actual.tensor(), allowance, magnitude);
  if (expected.is_sequence() && actual.is_sequence()) {
    const Sequence &want = expected.sequence(), &got = actual.sequence();
    if (want.size() != got.size()) return fmt::format("{} elements for {}", got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      if (std::string d = difference(want[i], got[i], allowance, Datum()); !d.empty())
        return fmt::format("tensor {}: {}", i, d);
    return {};
  }
  return expected.is_none() && actual.is_none() ? "" : "another kind of value";
}

}  // namespace ingot::devices
