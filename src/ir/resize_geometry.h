#pragma once

#include <optional>
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
};

// The axes of a resize of an operand of shape `in`. Exactly one of `scales` and `sizes` is not empty; `roi`
// may be empty. Throws Error(invalid_argument).
std::vector<ResizeAxis> resize_axes(const ResizeAttrs& attrs, const Shape& in, std::span<const double> roi,
                                    std::span<const double> scales, std::span<const int64_t> sizes);

// Keys' cubic convolution kernel (1981), a = `coefficient`.
double cubic_kernel(double x, double coefficient);

}  // namespace ingot
