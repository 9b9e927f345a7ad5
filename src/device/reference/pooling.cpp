#include <cmath>
#include <limits>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"
#include "device/reference/window_walk.h"

namespace ingot::reference {
namespace {

template <class A>
Windows pool_windows(KernelContext& c) {
  const auto& a = c.attrs<A>();
  return make_windows(window_attrs(a), spatial(c.in(0).shape()), a.kernel, spatial(c.out(0).shape()));
}

// Calls f(out index, plane, window position, offsets) for each window of each plane.
template <class F>
void for_each_window(const Windows& w, int64_t planes, F f) {
  int64_t windows = element_count(w.out);
  std::vector<int64_t> offsets;
  Shape position(w.out.size(), 0);
  for (int64_t i = 0; i < windows; ++i, advance(position, w.out)) {
    window_offsets(w, position, offsets);
    for (int64_t plane = 0; plane < planes; ++plane) f(plane * windows + i, plane, position, offsets);
  }
}

int64_t planes_of(const Tensor& x) { return x.shape()[0] * x.shape()[1]; }

// Whether x takes the place of the largest so far; the first NaN does and stays.
template <class W>
bool exceeds(W x, W largest) {
  if constexpr (std::is_floating_point_v<W>)
    return x > largest || (std::isnan(x) && !std::isnan(largest));
  else
    return x > largest;
}

template <class W>
void max_pool_as(KernelContext& c) {
  Windows w = pool_windows<MaxPoolAttrs>(c);
  bool by_column = c.attrs<MaxPoolAttrs>().column_major_indices;
  auto x = load<W>(c.in(0));
  int64_t plane_size = element_count(w.in);
  std::vector<W> out(static_cast<size_t>(c.out(0).count()));
  auto indices = c.out(1).mutable_data<int64_t>();
  for_each_window(w, planes_of(c.in(0)), [&](int64_t i, int64_t plane, const Shape&, const auto& offsets) {
    const W* data = x.data() + plane * plane_size;
    int64_t best = -1;
    for (int64_t o : offsets)
      if (o >= 0 && (best < 0 || exceeds(data[o], data[best]))) best = o;
    W lowest =
        std::is_floating_point_v<W> ? -std::numeric_limits<W>::infinity() : std::numeric_limits<W>::lowest();
    out[static_cast<size_t>(i)] = best < 0 ? lowest : data[best];
    int64_t offset = by_column && best >= 0 ? column_major(best, w.in) : best;
    indices[static_cast<size_t>(i)] = best < 0 ? -1 : plane * plane_size + offset;
  });
  store(c.out(0), out);
}

void max_pool(KernelContext& c) {
  with_wide(c.in(0).dtype(), [&](auto zero) { max_pool_as<decltype(zero)>(c); });
}

// Cells of a window that lie in the data or its padding; those beyond, which ceil_mode allows, never count.
int64_t padded_cells(const Windows& w, const Shape& window) {
  int64_t cells = 1;
  for (size_t axis = 0; axis < w.in.size(); ++axis) {
    int64_t inside = 0;
    for (int64_t k = 0; k < w.kernel[axis]; ++k)
      if (w.position(axis, window[axis], k) < w.in[axis] + w.axes[axis].pad_end) ++inside;
    cells *= inside;
  }
  return cells;
}

void average_pool(KernelContext& c) {
  Windows w = pool_windows<AveragePoolAttrs>(c);
  bool include_padding = c.attrs<AveragePoolAttrs>().count_include_pad;
  auto x = load<double>(c.in(0));
  int64_t plane_size = element_count(w.in);
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  for_each_window(w, planes_of(c.in(0)),
                  [&](int64_t i, int64_t plane, const Shape& window, const auto& offsets) {
                    double sum = 0;
                    int64_t count = 0;
                    for (int64_t o : offsets) {
                      if (o < 0) continue;
                      sum += x[static_cast<size_t>(plane * plane_size + o)];
                      ++count;
                    }
                    if (include_padding) count = padded_cells(w, window);
                    out[static_cast<size_t>(i)] = sum / static_cast<double>(count);
                  });
  store(c.out(0), out);
}

void lp_pool(KernelContext& c) {
  Windows w = pool_windows<LpPoolAttrs>(c);
  double p = c.attrs<LpPoolAttrs>().p;
  auto x = load<double>(c.in(0));
  int64_t plane_size = element_count(w.in);
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  for_each_window(w, planes_of(c.in(0)), [&](int64_t i, int64_t plane, const Shape&, const auto& offsets) {
    double sum = 0;
    for (int64_t o : offsets)
      if (o >= 0) sum += std::pow(std::fabs(x[static_cast<size_t>(plane * plane_size + o)]), p);
    out[static_cast<size_t>(i)] = std::pow(sum, 1 / p);
  });
  store(c.out(0), out);
}

// The shape that the indices count in: that of the pooled tensor without `output_shape`.
Shape unpooled_shape(KernelContext& c) {
  const auto& a = c.attrs<MaxUnpoolAttrs>();
  Shape shape = c.in(0).shape();
  WindowAttrs attrs = window_attrs(a);
  size_t axes = shape.size() - 2;
  if (a.kernel.size() != axes)
    c.fail(fmt::format("a kernel of {} sizes", axes), fmt::format("{}", a.kernel.size()));
  for (size_t i = 0; i < axes; ++i)
    shape[i + 2] =
        transposed_size(attrs, window_axis(attrs, i, axes), 0, std::nullopt, shape[i + 2], a.kernel[i])
            .constant();
  return shape;
}

void max_unpool(KernelContext& c) {
  Shape shape = unpooled_shape(c);
  const Shape& result = c.out(0).shape();
  int64_t count = element_count(shape);
  auto indices = load<int64_t>(c.in(1));
  if (indices.size() != static_cast<size_t>(c.in(0).count()))
    c.fail("an index per element", to_string(c.in(1).shape()));
  with_cell(c.in(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> x(c.in(0));
    OutCells<T> out(c.out(0));
    for (size_t i = 0; i < indices.size(); ++i) {
      int64_t index = indices[i];
      if (index < 0 || index >= count)
        c.fail(fmt::format("indices in [0, {})", count), fmt::format("{}", index));
      int64_t offset = 0, step = 1;
      bool inside = true;
      for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis], step *= result[axis]) {
        inside = inside && index % shape[axis] < result[axis];
        offset += index % shape[axis] * step;
      }
      if (inside) out[offset] = x[static_cast<int64_t>(i)];
    }
  });
}

// Cells [begin, end) of bin `i` of `bins` over a region of `size` cells from `start`, cut to the data.
std::pair<int64_t, int64_t> roi_bin(int64_t i, int64_t bins, int64_t start, int64_t size, int64_t limit) {
  double step = static_cast<double>(size) / static_cast<double>(bins);
  auto begin = static_cast<int64_t>(std::floor(static_cast<double>(i) * step)) + start;
  auto end = static_cast<int64_t>(std::ceil(static_cast<double>(i + 1) * step)) + start;
  return {std::clamp(begin, int64_t{0}, limit), std::clamp(end, int64_t{0}, limit)};
}

// One region: its corners are rounded to cells, both ends included, and each bin gives its largest element or
// 0.
void pool_region(KernelContext& c, const double* roi, const double* image, double* out) {
  const auto& a = c.attrs<MaxRoiPoolAttrs>();
  const Shape& x = c.in(0).shape();
  auto corner = [&](size_t i) {
    if (!std::isfinite(roi[i])) c.fail("finite corners", fmt::format("{}", roi[i]));
    // In single precision, where 5 * 0.7 is a half that rounds up.
    float scaled = static_cast<float>(roi[i]) * static_cast<float>(a.spatial_scale);
    return static_cast<int64_t>(std::round(std::clamp(scaled, -1e9F, 1e9F)));
  };
  int64_t x1 = corner(1), y1 = corner(2);
  int64_t width = std::max<int64_t>(corner(3) - x1 + 1, 1), height = std::max<int64_t>(corner(4) - y1 + 1, 1);
  for (int64_t ch = 0; ch < x[1]; ++ch, image += x[2] * x[3])
    for (int64_t i = 0; i < a.pooled[0]; ++i)
      for (int64_t j = 0; j < a.pooled[1]; ++j, ++out) {
        auto [top, bottom] = roi_bin(i, a.pooled[0], y1, height, x[2]);
        auto [left, right] = roi_bin(j, a.pooled[1], x1, width, x[3]);
        bool empty = top >= bottom || left >= right;
        *out = empty ? 0 : image[top * x[3] + left];
        for (int64_t r = top; r < bottom; ++r)
          for (int64_t q = left; q < right; ++q) *out = std::max(*out, image[r * x[3] + q]);
      }
}

void max_roi_pool(KernelContext& c) {
  const Shape& shape = c.in(0).shape();
  auto x = load<double>(c.in(0)), rois = load<double>(c.in(1));
  if (c.in(1).shape()[1] != 5) c.fail("five numbers a region", to_string(c.in(1).shape()));
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  int64_t regions = c.in(1).shape()[0];
  for (int64_t r = 0; r < regions; ++r) {
    double image = rois[static_cast<size_t>(r * 5)];
    if (!(image >= 0 && image < static_cast<double>(shape[0])))
      c.fail(fmt::format("batch indices in [0, {})", shape[0]), fmt::format("{}", image));
    pool_region(c, rois.data() + r * 5,
                x.data() + static_cast<int64_t>(image) * shape[1] * shape[2] * shape[3],
                out.data() + r * c.out(0).count() / regions);
  }
  store(c.out(0), out);
}

}  // namespace

void add_pooling_kernels(KernelTable& t) {
  t[Op::AveragePool] = average_pool;
  t[Op::LpPool] = lp_pool;
  t[Op::MaxPool] = max_pool;
  t[Op::MaxRoiPool] = max_roi_pool;
  t[Op::MaxUnpool] = max_unpool;
}

}  // namespace ingot::reference
