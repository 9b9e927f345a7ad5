#include "ir/resize_geometry.h"

#include <cmath>

#include "ingot/error.h"

namespace ingot {
namespace {

constexpr double kLargestSize = 1e15;

[[noreturn]] void fail(std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "op resize",
               .expected = std::move(expected),
               .observed = std::move(observed)});
}

std::vector<int64_t> axes_of(const ResizeAttrs& attrs, int64_t rank) {
  std::vector<int64_t> axes;
  if (attrs.axes.empty())
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  for (int64_t axis : attrs.axes) {
    if (axis < -rank || axis >= rank)
      fail(fmt::format("axes in [{}, {}]", -rank, rank - 1), fmt::format("{}", axis));
    axes.push_back(axis < 0 ? axis + rank : axis);
  }
  return axes;
}

// Sizes that fit into, or cover, the wanted ones at one scale for all axes.
void keep_aspect_ratio(std::vector<ResizeAxis>& axes, ResizePolicy policy) {
  double scale = axes[0].scale;
  for (const ResizeAxis& a : axes)
    scale = policy == ResizePolicy::not_larger ? std::min(scale, a.scale) : std::max(scale, a.scale);
  for (ResizeAxis& a : axes) {
    a.scale = scale;
    a.out = static_cast<int64_t>(std::floor(scale * static_cast<double>(a.in) + 0.5));
  }
}

void set_size(ResizeAxis& a, int64_t size) {
  if (size < 0) fail("sizes of at least 0", fmt::format("{}", size));
  if (a.in == 0 && size > 0) fail("an axis that is not empty", "size 0");
  a.out = size;
  a.scale = a.in == 0 ? 1 : static_cast<double>(size) / static_cast<double>(a.in);
}

void set_scale(ResizeAxis& a, double scale) {
  if (!(scale > 0) || scale * static_cast<double>(a.in) > kLargestSize)
    fail("scales above 0 that give a size a tensor can have", fmt::format("{}", scale));
  a.scale = scale;
  // As other runtimes do, in float: 10 * 0.7f is 7, although 0.7f is below 0.7.
  a.out = static_cast<int64_t>(std::floor(static_cast<float>(a.in) * static_cast<float>(scale)));
}

}  // namespace

double ResizeAxis::coordinate(int64_t position, ResizeCoordinates mode) const {
  auto o = static_cast<double>(position), length = static_cast<double>(in);
  double width = scale * length;  // the output size before rounding
  switch (mode) {
    case ResizeCoordinates::half_pixel: return (o + 0.5) / scale - 0.5;
    case ResizeCoordinates::half_pixel_symmetric: {
      double adjustment = static_cast<double>(out) / width;
      return length / 2 * (1 - adjustment) + (o + 0.5) / scale - 0.5;
    }
    case ResizeCoordinates::pytorch_half_pixel: return out > 1 ? (o + 0.5) / scale - 0.5 : 0;
    case ResizeCoordinates::align_corners: return out == 1 || width == 1 ? 0 : o * (length - 1) / (width - 1);
    case ResizeCoordinates::asymmetric: return o / scale;
    case ResizeCoordinates::tf_crop_and_resize:
      return out > 1 ? (start + o * (end - start) / (width - 1)) * (length - 1)
                     : 0.5 * (start + end) * (length - 1);
    case ResizeCoordinates::tf_half_pixel_for_nn: return (o + 0.5) / scale;
  }
  return o;
}

bool ResizeAxis::is_identity(ResizeCoordinates mode) const {
  return in == out && scale == 1 && mode != ResizeCoordinates::tf_crop_and_resize &&
         mode != ResizeCoordinates::tf_half_pixel_for_nn;
}

std::vector<ResizeAxis> resize_axes(const ResizeAttrs& attrs, const Shape& in, std::span<const double> roi,
                                    std::span<const double> scales, std::span<const int64_t> sizes) {
  std::vector<int64_t> axes = axes_of(attrs, static_cast<int64_t>(in.size()));
  if (std::max(scales.size(), sizes.size()) != axes.size() || (!scales.empty() && !sizes.empty()))
    fail(fmt::format("{} scales or {} sizes", axes.size(), axes.size()),
         fmt::format("{} and {}", scales.size(), sizes.size()));
  bool crop = attrs.coordinates == ResizeCoordinates::tf_crop_and_resize;
  if (crop && roi.size() != 2 * axes.size())
    fail(fmt::format("a region of {} numbers", 2 * axes.size()), fmt::format("{}", roi.size()));
  std::vector<ResizeAxis> out;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis a{.axis = axes[i], .in = in[static_cast<size_t>(axes[i])]};
    if (sizes.empty())
      set_scale(a, scales[i]);
    else
      set_size(a, sizes[i]);
    if (crop) a.start = roi[i], a.end = roi[axes.size() + i];
    out.push_back(a);
  }
  if (!sizes.empty() && !out.empty() && attrs.policy != ResizePolicy::stretch)
    keep_aspect_ratio(out, attrs.policy);
  return out;
}

double cubic_kernel(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace ingot
