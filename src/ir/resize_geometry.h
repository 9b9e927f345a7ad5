#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "ingot/ops.h"

namespace ingot {

// How one axis of a resize maps output positions to input coordinates.
struct ResizeAxis {
  int64_t axis = 0;
  int64_t in = 0;
  int64_t out = 0;
  double scale = 1;  // out / in, before out was rounded
  double start = 0;  // region of interest, in units of the axis; tf_crop_and_resize only
  double end = 1;

  // Formulas: ONNX Resize, attribute coordinate_transformation_mode.
  double coordinate(int64_t position, ResizeCoordinates mode) const;
  bool is_identity(ResizeCoordinates mode) const;
  // Whether coordinate x lies where the extrapolation value stands.
  bool is_outside(double x, ResizeCoordinates mode) const;
};

// The axes of a resize of an operand of shape `in`. Exactly one of `scales` and `sizes` is not empty; `roi`
// may be empty. Throws Error(invalid_argument).
std::vector<ResizeAxis> resize_axes(const ResizeAttrs& attrs, std::span<const int64_t> in,
                                    std::span<const double> roi, std::span<const double> scales,
                                    std::span<const int64_t> sizes);
// The same without allocating: fills `out`, which has room for them, and gives their number.
size_t resize_axes(const ResizeAttrs& attrs, std::span<const int64_t> in, std::span<const double> roi,
                   std::span<const double> scales, std::span<const int64_t> sizes, std::span<ResizeAxis> out);

// Where mode nearest reads for input coordinate x.
int64_t nearest_position(const ResizeAxis& axis, ResizeNearest rounding, double x);

// Keys' cubic convolution kernel (1981), a = `coefficient`.
double cubic_kernel(double x, double coefficient);

// Calls f(input position, weight) for what modes linear and cubic blend at input coordinate x. Positions
// beyond an edge read the edge, or count nothing. Anti-aliasing widens the kernel when the axis shrinks.
template <class F>
void blend_taps(const ResizeAttrs& attrs, const ResizeAxis& axis, double x, F f) {
  const bool linear = attrs.mode == ResizeMode::linear;
  const double stretch = attrs.antialias ? std::min(axis.scale, 1.0) : 1.0,
               radius = (linear ? 1 : 2) / stretch;
  auto each = [&](auto tap) {
    for (auto j = static_cast<int64_t>(std::ceil(x - radius));
         j <= static_cast<int64_t>(std::floor(x + radius)); ++j) {
      const double distance = stretch * (static_cast<double>(j) - x);
      const double w =
          linear ? std::max(0.0, 1 - std::fabs(distance)) : cubic_kernel(distance, attrs.cubic_coefficient);
      const bool inside = j >= 0 && j < axis.in;
      if (w != 0 && (inside || !attrs.exclude_outside)) tap(std::clamp<int64_t>(j, 0, axis.in - 1), w);
    }
  };
  double sum = 0;
  if (attrs.antialias || attrs.exclude_outside) each([&](int64_t, double w) { sum += w; });
  each([&](int64_t j, double w) { f(j, sum != 0 ? w / sum : w); });
}

}  // namespace ingot
