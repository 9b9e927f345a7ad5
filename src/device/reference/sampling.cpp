#include <cmath>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"
#include "ir/grid_geometry.h"

namespace ingot::reference {
namespace {

constexpr int64_t kMostSamples = int64_t{1} << 20;  // per bin of a region

struct Tap {
  int64_t offset;
  double weight;
};

// All combinations of the taps of each axis.
std::vector<Tap> combine(const std::vector<Tap>& a, const std::vector<Tap>& b) {
  std::vector<Tap> out;
  for (const Tap& x : a)
    for (const Tap& y : b) out.push_back({x.offset + y.offset, x.weight * y.weight});
  return out;
}

// Taps of one grid point; its coordinates name the last axis first.
std::vector<Tap> point_taps(const std::vector<GridAxis>& axes, const Shape& strides, const double* point) {
  std::vector<Tap> all{{0, 1}}, own;
  for (size_t k = 0; k < axes.size(); ++k) {
    own.clear();
    axes[k].taps(axes[k].coordinate(point[axes.size() - 1 - k]), [&](int64_t pixel, double weight) {
      own.push_back({pixel * strides[k], weight});
    });
    all = combine(all, own);
  }
  return all;
}

void grid_sample(KernelContext& c) {
  const auto& a = c.attrs<GridSampleAttrs>();
  const Shape &shape = c.in(0).shape(), &grid_shape = c.in(1).shape();
  if (shape[0] != grid_shape[0])
    c.fail(fmt::format("a grid for {} images", shape[0]), fmt::format("{}", grid_shape[0]));
  Shape spatial(shape.begin() + 2, shape.end()), strides = row_major_strides(spatial);
  std::vector<GridAxis> axes;
  for (int64_t size : spatial) axes.push_back({a, size});
  auto x = load<double>(c.in(0)), grid = load<double>(c.in(1));
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  int64_t image = element_count(spatial), k = grid_shape.back(), channels = shape[1];
  int64_t points = channels * shape[0] == 0 ? 0 : c.out(0).count() / (shape[0] * channels);
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t p = 0; p < points; ++p) {
      auto taps = point_taps(axes, strides, grid.data() + (n * points + p) * k);
      for (int64_t ch = 0; ch < channels; ++ch) {
        const double* pixels = x.data() + (n * channels + ch) * image;
        double sum = 0;
        for (const Tap& t : taps) sum += t.weight * pixels[t.offset];
        out[static_cast<size_t>((n * channels + ch) * points + p)] = sum;
      }
    }
  }
  store(c.out(0), out);
}

// The four pixels around (y, x) with bilinear weights; none where the point lies more than a pixel outside.
std::vector<Tap> bilinear(double y, double x, int64_t height, int64_t width) {
  auto h = static_cast<double>(height), w = static_cast<double>(width);
  if (!(y >= -1 && y <= h && x >= -1 && x <= w)) return {};
  y = std::clamp(y, 0.0, h - 1), x = std::clamp(x, 0.0, w - 1);
  double y0 = std::floor(y), x0 = std::floor(x), ty = y - y0, tx = x - x0;
  double y1 = std::min(y0 + 1, h - 1), x1 = std::min(x0 + 1, w - 1);
  auto tap = [&](double row, double column, double weight) {
    return Tap{static_cast<int64_t>(row) * width + static_cast<int64_t>(column), weight};
  };
  return {tap(y0, x0, (1 - ty) * (1 - tx)), tap(y0, x1, (1 - ty) * tx), tap(y1, x0, ty * (1 - tx)),
          tap(y1, x1, ty * tx)};
}

// One region, scaled to the feature map and cut into bins of which each is sampled at a grid of points.
struct Region {
  double top, left, bin_height, bin_width;
  int64_t rows, columns;  // sample points per bin

  Region(const RoiAlignAttrs& a, const double* roi) {
    double shift = a.coordinates == RoiCoordinates::half_pixel ? 0.5 : 0;
    left = roi[0] * a.spatial_scale - shift, top = roi[1] * a.spatial_scale - shift;
    double width = roi[2] * a.spatial_scale - shift - left, height = roi[3] * a.spatial_scale - shift - top;
    if (a.coordinates == RoiCoordinates::output_half_pixel)
      width = std::max(width, 1.0), height = std::max(height, 1.0);
    bin_height = height / static_cast<double>(a.height), bin_width = width / static_cast<double>(a.width);
    rows = samples(a, bin_height), columns = samples(a, bin_width);
  }

  static int64_t samples(const RoiAlignAttrs& a, double bin) {
    if (a.sampling_ratio > 0) return a.sampling_ratio;
    // Also where a coordinate is no number; more than kMostSamples is refused.
    return bin <= kMostSamples ? static_cast<int64_t>(std::ceil(std::max(bin, 0.0))) : kMostSamples + 1;
  }

  double row(int64_t bin, int64_t i) const {
    return top + bin_height *
                     (static_cast<double>(bin) + (static_cast<double>(i) + 0.5) / static_cast<double>(rows));
  }
  double column(int64_t bin, int64_t i) const {
    return left + bin_width * (static_cast<double>(bin) +
                               (static_cast<double>(i) + 0.5) / static_cast<double>(columns));
  }
};

// Mean of the interpolated points, or the largest single weighted pixel: what ONNX calls max.
double pool(RoiMode mode, const std::vector<std::vector<Tap>>& points, const double* pixels) {
  double sum = 0, largest = -std::numeric_limits<double>::infinity();
  for (const auto& taps : points) {
    if (taps.empty()) largest = std::max(largest, 0.0);
    for (const Tap& t : taps) {
      sum += t.weight * pixels[t.offset];
      largest = std::max(largest, t.weight * pixels[t.offset]);
    }
  }
  if (points.empty()) return 0;
  return mode == RoiMode::avg ? sum / static_cast<double>(points.size()) : largest;
}

std::vector<std::vector<Tap>> bin_points(const Region& region, int64_t i, int64_t j, int64_t height,
                                         int64_t width) {
  std::vector<std::vector<Tap>> points;
  for (int64_t y = 0; y < region.rows; ++y)
    for (int64_t x = 0; x < region.columns; ++x)
      points.push_back(bilinear(region.row(i, y), region.column(j, x), height, width));
  return points;
}

void roi_align(KernelContext& c) {
  const auto& a = c.attrs<RoiAlignAttrs>();
  const Shape& shape = c.in(0).shape();
  auto x = load<double>(c.in(0)), rois = load<double>(c.in(1));
  auto images = load<int64_t>(c.in(2));
  if (static_cast<int64_t>(images.size()) != c.in(1).shape()[0])
    c.fail(fmt::format("{} image numbers", c.in(1).shape()[0]), fmt::format("{}", images.size()));
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  int64_t channels = shape[1], plane = shape[2] * shape[3], bins = a.height * a.width;
  for (size_t r = 0; r < images.size(); ++r) {
    if (images[r] < 0 || images[r] >= shape[0])
      c.fail(fmt::format("image numbers in [0, {}]", shape[0] - 1), fmt::format("{}", images[r]));
    Region region(a, rois.data() + r * 4);
    if (plane == 0 || region.rows > kMostSamples || region.columns > kMostSamples ||
        region.rows * region.columns > kMostSamples)
      c.fail(fmt::format("at most {} sample points per bin of an image that is not empty", kMostSamples),
             fmt::format("{} x {}", region.rows, region.columns));
    for (int64_t b = 0; b < bins; ++b) {
      auto points = bin_points(region, b / a.width, b % a.width, shape[2], shape[3]);
      for (int64_t ch = 0; ch < channels; ++ch)
        out[static_cast<size_t>((static_cast<int64_t>(r) * channels + ch) * bins + b)] =
            pool(a.mode, points, x.data() + (images[r] * channels + ch) * plane);
    }
  }
  store(c.out(0), out);
}

// Gaussian elimination with partial pivoting; `m` is used up.
double determinant(std::span<double> m, size_t n) {
  double det = 1;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; ++i)
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    if (m[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(m.begin() + static_cast<int64_t>(k * n), m.begin() + static_cast<int64_t>(k * n + n),
                       m.begin() + static_cast<int64_t>(pivot * n));
      det = -det;
    }
    det *= m[k * n + k];
    for (size_t i = k + 1; i < n; ++i) {
      double f = m[i * n + k] / m[k * n + k];
      for (size_t j = k; j < n; ++j) m[i * n + j] -= f * m[k * n + j];
    }
  }
  return det;
}

void det(KernelContext& c) {
  auto n = static_cast<size_t>(c.in(0).shape().back());
  auto x = load<double>(c.in(0));
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = determinant(std::span(x).subspan(i * n * n, n * n), n);
  store(c.out(0), out);
}

}  // namespace

void add_sampling_kernels(KernelTable& t) {
  t[Op::GridSample] = grid_sample;
  t[Op::RoiAlign] = roi_align;
  t[Op::Det] = det;
}

}  // namespace ingot::reference
