#pragma once

#include <algorithm>
#include <cmath>

#include "ingot/ops.h"
#include "ir/resize_geometry.h"

namespace ingot {

// Mirrors x at `low` and `high` as often as it takes to lie between them.
inline double reflect(double x, double low, double high) {
  double range = high - low;
  if (range <= 0) return low;
  double beyond = x < low ? low - x : x > high ? x - high : 0;
  if (beyond == 0) return x;
  double times = std::floor(beyond / range), rest = beyond - times * range;
  bool from_low = (std::fmod(times, 2) == 0) == (x < low);
  return from_low ? low + rest : high - rest;
}

// One axis of an image that grid_sample reads.
struct GridAxis {
  const GridSampleAttrs& a;
  int64_t size;

  double low() const { return a.align_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(size) - (a.align_corners ? 1 : 0.5); }

  // From [-1, 1] to pixels, brought inside as the padding mode says.
  double coordinate(double normalised) const {
    auto n = static_cast<double>(size);
    double x = a.align_corners ? (normalised + 1) / 2 * (n - 1) : ((normalised + 1) * n - 1) / 2;
    if (a.mode == GridSampleMode::nearest) x = std::nearbyint(x);
    if (x >= low() && x <= high()) return x;
    if (a.padding == GridSamplePadding::border) return std::clamp(x, 0.0, n - 1);
    if (a.padding == GridSamplePadding::reflection) return reflect(x, low(), high());
    return x;
  }

  // The pixel to read for position i; -1: none, it counts as zero.
  int64_t pixel(double i) const {
    auto n = static_cast<double>(size);
    if (i >= 0 && i < n) return static_cast<int64_t>(i);
    if (a.padding == GridSamplePadding::zeros || !std::isfinite(i)) return -1;
    if (a.padding == GridSamplePadding::border) return i < 0 ? 0 : size - 1;
    return static_cast<int64_t>(std::clamp(reflect(i, low(), high()), 0.0, n - 1));
  }

  static constexpr int kMostTaps = 4;

  // Calls f(pixel, weight) for what coordinate x reads.
  template <class F>
  void taps(double x, F f) const {
    constexpr double kCubicCoefficient = -0.75;
    auto add = [&](double i, double weight) {
      if (int64_t p = pixel(i); p >= 0) f(p, weight);
    };
    double base = std::floor(x), t = x - base;
    switch (a.mode) {
      case GridSampleMode::nearest: return add(std::trunc(x), 1);
      case GridSampleMode::linear: add(base, 1 - t), add(base + 1, t); return;
      case GridSampleMode::cubic:
        for (int k = -1; k <= 2; ++k) add(base + k, cubic_kernel(t - k, kCubicCoefficient));
    }
  }
};

}  // namespace ingot
