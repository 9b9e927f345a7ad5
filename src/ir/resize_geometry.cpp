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

size_t axis_count(const ResizeAttrs& attrs, size_t rank) {
  return attrs.axes.empty() ? rank : attrs.axes.size();
}

int64_t axis_at(const ResizeAttrs& attrs, size_t i, int64_t rank) {
  if (attrs.axes.empty()) return static_cast<int64_t>(i);
  int64_t axis = attrs.axes[i];
  if (axis < -rank || axis >= rank)
    fail(fmt::format("axes in [{}, {}]", -rank, rank - 1), fmt::format("{}", axis));
  return axis < 0 ? axis + rank : axis;
}

// Sizes that fit into, or cover, the wanted ones at one scale for all axes.
void keep_aspect_ratio(std::span<ResizeAxis> axes, ResizePolicy policy) {
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

bool ResizeAxis::is_outside(double x, ResizeCoordinates mode) const {
  return mode == ResizeCoordinates::tf_crop_and_resize && !(x >= 0 && x <= static_cast<double>(in - 1));
}

size_t resize_axes(const ResizeAttrs& attrs, std::span<const int64_t> in, std::span<const double> roi,
                   std::span<const double> scales, std::span<const int64_t> sizes,
                   std::span<ResizeAxis> out) {
  const size_t count = axis_count(attrs, in.size());
  if (std::max(scales.size(), sizes.size()) != count || (!scales.empty() && !sizes.empty()))
    fail(fmt::format("{} scales or {} sizes", count, count),
         fmt::format("{} and {}", scales.size(), sizes.size()));
  bool crop = attrs.coordinates == ResizeCoordinates::tf_crop_and_resize;
  if (crop && roi.size() != 2 * count)
    fail(fmt::format("a region of {} numbers", 2 * count), fmt::format("{}", roi.size()));
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = axis_at(attrs, i, static_cast<int64_t>(in.size()));
    ResizeAxis a{.axis = axis, .in = in[static_cast<size_t>(axis)]};
    if (sizes.empty())
      set_scale(a, scales[i]);
    else
      set_size(a, sizes[i]);
    if (crop) a.start = roi[i], a.end = roi[count + i];
    out[i] = a;
  }
  if (!sizes.empty() && count > 0 && attrs.policy != ResizePolicy::stretch)
    keep_aspect_ratio(out.first(count), attrs.policy);
  return count;
}

std::vector<ResizeAxis> resize_axes(const ResizeAttrs& attrs, std::span<const int64_t> in,
                                    std::span<const double> roi, std::span<const double> scales,
                                    std::span<const int64_t> sizes) {
  std::vector<ResizeAxis> out(axis_count(attrs, in.size()));
  resize_axes(attrs, in, roi, scales, sizes, out);
  return out;
}

int64_t nearest_position(const ResizeAxis& axis, ResizeNearest rounding, double x) {
  switch (rounding) {
    case ResizeNearest::round_prefer_floor: x = std::ceil(x - 0.5); break;
    case ResizeNearest::round_prefer_ceil: x = std::floor(x + 0.5); break;
    case ResizeNearest::floor: x = std::floor(x); break;
    case ResizeNearest::ceil: x = std::ceil(x); break;
  }
  return static_cast<int64_t>(std::clamp(x, 0.0, static_cast<double>(axis.in - 1)));
}

double cubic_kernel(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace ingot
