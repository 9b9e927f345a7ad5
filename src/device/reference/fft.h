#pragma once

#include <complex>
#include <vector>

namespace ingot::reference {

// y[k] = sum over n of x[n] exp(direction 2 pi i n k / N), direction -1 (forward) or 1 (inverse, not divided
// by N), for any N: mixed radix, and Bluestein's algorithm for large prime factors. O(N log N).
std::vector<std::complex<double>> fft(std::vector<std::complex<double>> x, int direction);

}  // namespace ingot::reference
