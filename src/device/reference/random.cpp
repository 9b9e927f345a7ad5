#include <cmath>
#include <numbers>

#include "base/philox.h"
#include "device/reference/elements.h"
#include "device/reference/kernel.h"

// Random numbers that depend on the seed and the position of an element alone: element i uses block i of
// Philox with the seed as key.
namespace ingot::reference {
namespace {

// The upper `bits` of 64 random ones, as a number in [0, 1).
double fraction(uint32_t low, uint32_t high, int bits) {
  uint64_t word = uint64_t{high} << 32 | low;
  return std::ldexp(static_cast<double>(word >> (64 - bits)), -bits);
}

// Bits of the significand, so that a fraction is exact in the type and stays below 1.
int precision(DType dtype) {
  switch (dtype) {
    case DType::f64: return 53;
    case DType::f32: return 24;
    case DType::f16: return 11;
    default: return 8;
  }
}

void random_uniform(KernelContext& c) {
  const auto& a = c.attrs<RandomUniformAttrs>();
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  for (size_t i = 0; i < out.size(); ++i) {
    auto w = philox(static_cast<uint64_t>(a.seed), i);
    out[i] = a.low + fraction(w[0], w[1], precision(a.dtype)) * (a.high - a.low);
  }
  store(c.out(0), out);
}

// Box and Muller: two fractions give a radius and an angle.
void random_normal(KernelContext& c) {
  const auto& a = c.attrs<RandomNormalAttrs>();
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  for (size_t i = 0; i < out.size(); ++i) {
    auto w = philox(static_cast<uint64_t>(a.seed), i);
    double radius = std::sqrt(-2 * std::log1p(-fraction(w[0], w[1], 53)));
    out[i] = a.mean + a.scale * radius * std::cos(2 * std::numbers::pi * fraction(w[2], w[3], 53));
  }
  store(c.out(0), out);
}

// Sums of e^x along one row, relative to its largest element.
std::vector<double> cumulative(std::span<const double> row) {
  double largest = *std::max_element(row.begin(), row.end()), sum = 0;
  std::vector<double> sums;
  for (double x : row) sums.push_back(sum += std::exp(x - largest));
  return sums;
}

void multinomial(KernelContext& c) {
  const auto& a = c.attrs<MultinomialAttrs>();
  auto x = load<double>(c.in(0));
  auto rows = static_cast<size_t>(c.in(0).shape()[0]), classes = static_cast<size_t>(c.in(0).shape()[1]);
  auto samples = static_cast<size_t>(a.sample_size);
  if (classes == 0 && rows * samples > 0) c.fail("at least one class", "none");
  std::vector<int64_t> out(rows * samples);
  for (size_t r = 0; r < rows; ++r) {
    auto sums = cumulative(std::span(x).subspan(r * classes, classes));
    for (size_t s = 0; s < samples; ++s) {
      auto w = philox(static_cast<uint64_t>(a.seed), r * samples + s);
      auto found = std::upper_bound(sums.begin(), sums.end(), fraction(w[0], w[1], 53) * sums.back());
      out[r * samples + s] = std::min<int64_t>(found - sums.begin(), static_cast<int64_t>(classes) - 1);
    }
  }
  store(c.out(0), out);
}

}  // namespace

void add_random_kernels(KernelTable& t) {
  t[Op::Multinomial] = multinomial;
  t[Op::RandomNormal] = random_normal;
  t[Op::RandomUniform] = random_uniform;
}

}  // namespace ingot::reference
