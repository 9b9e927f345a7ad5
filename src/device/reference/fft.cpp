#include "device/reference/fft.h"

#include <cstdint>
#include <numbers>

namespace ingot::reference {
namespace {

using Complex = std::complex<double>;

constexpr size_t kLargestDirect = 64;  // prime sizes above this go through Bluestein's algorithm

Complex root(uint64_t k, uint64_t n, int direction) {
  return std::polar(1.0,
                    direction * 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}

size_t smallest_factor(size_t n) {
  for (size_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

// A transform of any size as a convolution of a power of two: n k = (n^2 + k^2 - (k - n)^2) / 2.
std::vector<Complex> bluestein(const std::vector<Complex>& x, int direction) {
  size_t n = x.size(), size = 1;
  while (size < 2 * n) size *= 2;
  std::vector<Complex> chirp(n), a(size), b(size);
  for (size_t i = 0; i < n; ++i) {
    chirp[i] = root(static_cast<uint64_t>(i) * i, 2 * n, direction);
    a[i] = x[i] * chirp[i];
    b[i] = b[(size - i) % size] = std::conj(chirp[i]);
  }
  a = fft(std::move(a), -1);
  b = fft(std::move(b), -1);
  for (size_t i = 0; i < size; ++i) a[i] *= b[i];
  a = fft(std::move(a), 1);
  std::vector<Complex> y(n);
  for (size_t i = 0; i < n; ++i) y[i] = a[i] * chirp[i] / static_cast<double>(size);
  return y;
}

}  // namespace

std::vector<Complex> fft(std::vector<Complex> x, int direction) {
  size_t n = x.size();
  if (n <= 1) return x;
  size_t p = smallest_factor(n), m = n / p;
  if (p == n && n > kLargestDirect) return bluestein(x, direction);
  std::vector<std::vector<Complex>> parts;
  for (size_t r = 0; r < p; ++r) {
    std::vector<Complex> part(m);
    for (size_t i = 0; i < m; ++i) part[i] = x[i * p + r];
    parts.push_back(fft(std::move(part), direction));
  }
  std::vector<Complex> turn(n);
  for (size_t k = 0; k < n; ++k) turn[k] = root(k, n, direction);
  for (size_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (size_t r = 0; r < p; ++r) sum += parts[r][k % m] * turn[r * k % n];
    x[k] = sum;
  }
  return x;
}

}  // namespace ingot::reference
