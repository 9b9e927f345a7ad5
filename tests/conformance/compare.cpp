#include "tests/conformance/compare.h"

#include <cmath>

#include "ir/numeric.h"

namespace ingot::conformance {
namespace {

// NumPy's assert_allclose also accepts an absolute miss of 1e-5 of the largest value in our peers'
// measurements ("tol"); sums in another order need it for values that cancel to nearly zero.
double scaled_absolute(const std::vector<double>& expected, double absolute) {
  double largest = 0;
  for (double x : expected)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  return std::max(absolute, 1e-5 * std::min(largest, 1.0));
}

std::string difference(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance) {
  if (expected.dtype() != actual.dtype())
    return fmt::format("type {} for {}", to_string(actual.dtype()), to_string(expected.dtype()));
  if (expected.shape() != actual.shape())
    return fmt::format("shape {} for {}", to_string(actual.shape()), to_string(expected.shape()));
  if (!tolerance.values) return {};
  auto count = static_cast<size_t>(expected.count());
  if (expected.is_string()) {
    for (size_t i = 0; i < count; ++i)
      if (expected.strings()[i] != actual.strings()[i])
        return fmt::format("[{}] = '{}' for '{}'", i, actual.strings()[i], expected.strings()[i]);
    return {};
  }
  if (!is_floating(expected.dtype()) && expected.identical(actual)) return {};
  std::vector<double> want(count), got(count);
  decode_to_f64(expected.dtype(), expected.bytes().data(), expected.count(), want.data());
  decode_to_f64(actual.dtype(), actual.bytes().data(), actual.count(), got.data());
  double absolute = scaled_absolute(want, tolerance.absolute);
  for (size_t i = 0; i < count; ++i) {
    bool same = want[i] == got[i] || (std::isnan(want[i]) && std::isnan(got[i])) ||
                std::fabs(want[i] - got[i]) <= absolute + tolerance.relative * std::fabs(want[i]);
    if (!same) return fmt::format("[{}] = {} for {}", i, got[i], want[i]);
  }
  return {};
}

}  // namespace

std::string difference(const Datum& expected, const Datum& actual, const Tolerance& tolerance) {
  if (expected.is_tensor() && actual.is_tensor())
    return difference(expected.tensor(), actual.tensor(), tolerance);
  if (expected.is_sequence() && actual.is_sequence()) {
    const Sequence &e = expected.sequence(), &a = actual.sequence();
    if (e.size() != a.size()) return fmt::format("{} elements for {}", a.size(), e.size());
    for (size_t i = 0; i < e.size(); ++i)
      if (auto d = difference(e[i], a[i], tolerance); !d.empty()) return fmt::format("element {}: {}", i, d);
    return {};
  }
  return expected.is_none() && actual.is_none() ? "" : "another kind of value";
}

}  // namespace ingot::conformance
