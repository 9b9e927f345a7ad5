#include <cmath>

#include "device/reference/contraction.h"
#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/window_walk.h"

// Convolution as a matrix product: the cells that each window reads become a column.
namespace ingot::reference {
namespace {

constexpr int64_t kTile = 256;  // windows, so columns, at a time

int64_t product(const Shape& shape) { return element_count(shape); }

// Sizes common to the convolutions of this file; channels and outputs are those of one group.
struct Sizes {
  int64_t batch, group, channels, outputs, cells, plane, out_plane;
};

// Offsets in a plane of what each of `count` windows from `position` on reads: a row for each cell of a
// window, -1 outside.
std::vector<int64_t> tile_offsets(const Windows& windows, Shape position, int64_t count) {
  std::vector<int64_t> out, offsets;
  for (int64_t column = 0; column < count; ++column, advance(position, windows.out)) {
    window_offsets(windows, position, offsets);
    out.resize(offsets.size() * static_cast<size_t>(count));
    for (size_t cell = 0; cell < offsets.size(); ++cell)
      out[cell * static_cast<size_t>(count) + static_cast<size_t>(column)] = offsets[cell];
  }
  return out;
}

// Reads channels * cells rows of `count` columns, one per window.
template <class W>
void gather_columns(const std::vector<int64_t>& offsets, const W* data, const Sizes& s, W* columns) {
  for (int64_t c = 0; c < s.channels; ++c, data += s.plane)
    for (int64_t offset : offsets) *columns++ = offset < 0 ? W{0} : data[offset];
}

Shape position_of(int64_t index, const Shape& shape) {
  Shape out(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) out[axis] = index % shape[axis];
  return out;
}

// For each tile of windows, prepare(position, count) gives a function fill(image, columns) that reads what
// the windows see of one image; its product with the weights is the result.
template <class W, class Prepare>
std::vector<W> convolve(const Sizes& s, const Shape& windows, const std::vector<W>& weights,
                        Prepare prepare) {
  std::vector<W> out(static_cast<size_t>(s.batch * s.group * s.outputs * s.out_plane));
  int64_t depth = s.channels * s.cells;
  std::vector<W> columns(static_cast<size_t>(depth * kTile)), tile(static_cast<size_t>(s.outputs * kTile));
  for (int64_t first = 0; first < s.out_plane; first += kTile) {
    int64_t count = std::min(kTile, s.out_plane - first);
    auto fill = prepare(position_of(first, windows), count);
    for (int64_t image = 0; image < s.batch * s.group; ++image) {
      fill(image, columns.data());
      std::fill(tile.begin(), tile.end(), W{0});
      multiply_add(weights.data() + image % s.group * s.outputs * depth, columns.data(), tile.data(),
                   s.outputs, count, depth);
      for (int64_t m = 0; m < s.outputs; ++m)
        std::copy_n(tile.data() + m * count, count,
                    out.data() + (image * s.outputs + m) * s.out_plane + first);
    }
  }
  return out;
}

template <class W>
void add_bias(KernelContext& c, size_t operand, std::vector<W>& out) {
  if (!c.has(operand) || out.empty()) return;
  auto bias = load<W>(c.in(operand));
  size_t plane = static_cast<size_t>(product(spatial(c.out(0).shape())));
  for (size_t i = 0; i < out.size(); ++i) out[i] += bias[i / plane % bias.size()];
}

Sizes conv_sizes(KernelContext& c, int64_t group) {
  const Shape &x = c.in(0).shape(), &w = c.in(1).shape(), &y = c.out(0).shape();
  if (w[1] * group != x[1]) c.fail(fmt::format("{} channels", w[1] * group), to_string(x));
  return {x[0], group, w[1], w[0] / group, product(spatial(w)), product(spatial(x)), product(spatial(y))};
}

void conv(KernelContext& c) {
  const auto& a = c.attrs<ConvAttrs>();
  Sizes s = conv_sizes(c, a.group);
  Windows windows = make_windows(window_attrs(a), spatial(c.in(0).shape()), spatial(c.in(1).shape()),
                                 spatial(c.out(0).shape()));
  with_wide(c.in(0).dtype(), [&](auto zero) {
    using W = decltype(zero);
    auto x = load<W>(c.in(0));
    auto prepare = [&](const Shape& position, int64_t count) {
      return [&, offsets = tile_offsets(windows, position, count)](int64_t image, W* columns) {
        gather_columns(offsets, x.data() + image * s.channels * s.plane, s, columns);
      };
    };
    auto out = convolve(s, windows.out, load<W>(c.in(1)), prepare);
    add_bias(c, 2, out);
    store(c.out(0), out);
  });
}

// Adds what one tile of inputs spreads over the output: windows of the output, one per input position.
template <class W>
void scatter_columns(const std::vector<int64_t>& offsets, const W* columns, const Sizes& s, W* out) {
  for (int64_t m = 0; m < s.outputs; ++m, out += s.out_plane)
    for (int64_t offset : offsets) {
      if (offset >= 0) out[offset] += *columns;
      ++columns;
    }
}

// weights [channels, outputs * cells] of one group, transposed.
template <class W>
std::vector<W> transposed(const W* weights, int64_t rows, int64_t columns) {
  std::vector<W> out(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < columns; ++i) out[static_cast<size_t>(i * rows + r)] = weights[r * columns + i];
  return out;
}

// `weights`: of each group, transposed.
template <class W>
void spread(const Sizes& s, const Windows& windows, const std::vector<std::vector<W>>& weights, const W* x,
            W* out) {
  int64_t depth = s.outputs * s.cells;
  std::vector<W> columns(static_cast<size_t>(depth * kTile)), tile(static_cast<size_t>(s.channels * kTile));
  for (int64_t first = 0; first < s.plane; first += kTile) {
    int64_t count = std::min(kTile, s.plane - first);
    auto offsets = tile_offsets(windows, position_of(first, windows.out), count);
    for (int64_t image = 0; image < s.batch * s.group; ++image) {
      for (int64_t ch = 0; ch < s.channels; ++ch)
        std::copy_n(x + (image * s.channels + ch) * s.plane + first, count, tile.data() + ch * count);
      std::fill(columns.begin(), columns.end(), W{0});
      multiply_add(weights[static_cast<size_t>(image % s.group)].data(), tile.data(), columns.data(), depth,
                   count, s.channels);
      scatter_columns(offsets, columns.data(), s, out + image * s.outputs * s.out_plane);
    }
  }
}

// The windows lie in the output, one per position of the input.
Windows transposed_windows(KernelContext& c) {
  const auto& a = c.attrs<ConvTransposeAttrs>();
  WindowAttrs attrs = window_attrs(a);
  Windows w{spatial(c.out(0).shape()), spatial(c.in(0).shape()), spatial(c.in(1).shape()), {}};
  for (size_t i = 0; i < w.in.size(); ++i) {
    int64_t padding = a.output_padding.empty() ? 0 : a.output_padding[i];
    w.axes.push_back(resolve_transposed_padding(attrs, window_axis(attrs, i, w.in.size()), padding,
                                                !a.output_shape.empty(), w.out[i], w.kernel[i], w.in[i]));
  }
  return w;
}

void conv_transpose(KernelContext& c) {
  const auto& a = c.attrs<ConvTransposeAttrs>();
  const Shape &x = c.in(0).shape(), &w = c.in(1).shape(), &y = c.out(0).shape();
  if (w[0] != x[1]) c.fail(fmt::format("{} channels", w[0]), to_string(x));
  Sizes s{x[0], a.group, x[1] / a.group, w[1], product(spatial(w)), product(spatial(x)), product(spatial(y))};
  Windows windows = transposed_windows(c);
  with_wide(c.in(0).dtype(), [&](auto zero) {
    using W = decltype(zero);
    auto data = load<W>(c.in(0)), all_weights = load<W>(c.in(1));
    std::vector<W> out(static_cast<size_t>(c.out(0).count()));
    std::vector<std::vector<W>> weights;
    int64_t depth = s.outputs * s.cells;
    for (int64_t group = 0; group < s.group; ++group)
      weights.push_back(transposed(all_weights.data() + group * s.channels * depth, s.channels, depth));
    spread(s, windows, weights, data.data(), out.data());
    add_bias(c, 2, out);
    store(c.out(0), out);
  });
}

// Value at a fractional position by linear interpolation; cells outside count as 0.
double sample(const double* plane, const Shape& size, double y, double x) {
  auto y0 = static_cast<int64_t>(std::floor(y)), x0 = static_cast<int64_t>(std::floor(x));
  double fy = y - static_cast<double>(y0), fx = x - static_cast<double>(x0);
  auto cell = [&](int64_t r, int64_t q) {
    return r < 0 || r >= size[0] || q < 0 || q >= size[1] ? 0.0 : plane[r * size[1] + q];
  };
  return (1 - fy) * ((1 - fx) * cell(y0, x0) + fx * cell(y0, x0 + 1)) +
         fy * ((1 - fx) * cell(y0 + 1, x0) + fx * cell(y0 + 1, x0 + 1));
}

// Windows whose cells are moved by offsets [batch, offset_group, cell, y or x, windows] and scaled by a mask.
struct Deformation {
  Windows windows;
  Sizes sizes;
  int64_t offset_groups, total_channels;
  std::vector<double> x, offsets, mask;

  void gather(Shape position, int64_t image, int64_t count, double* columns) const {
    for (int64_t i = 0; i < count; ++i, advance(position, windows.out))
      for (int64_t ch = 0; ch < sizes.channels; ++ch)
        for (int64_t cell = 0; cell < sizes.cells; ++cell)
          columns[(ch * sizes.cells + cell) * count + i] = value(position, image, ch, cell);
  }

  double value(const Shape& at, int64_t image, int64_t ch, int64_t cell) const {
    int64_t channel = image % sizes.group * sizes.channels + ch, n = image / sizes.group;
    int64_t block = (n * offset_groups + channel * offset_groups / total_channels) * sizes.cells + cell;
    int64_t window = at[0] * windows.out[1] + at[1];
    auto moved = [&](size_t axis, int64_t k) {
      auto index = (block * 2 + static_cast<int64_t>(axis)) * sizes.out_plane + window;
      return static_cast<double>(windows.position(axis, at[axis], k)) + offsets[static_cast<size_t>(index)];
    };
    double y = moved(0, cell / windows.kernel[1]), q = moved(1, cell % windows.kernel[1]);
    // Far outside everything is 0; the test also keeps NaN and huge offsets from the conversion to integers.
    bool near =
        y > -1 && y < static_cast<double>(windows.in[0]) && q > -1 && q < static_cast<double>(windows.in[1]);
    if (!near) return 0;
    double scale = mask.empty() ? 1 : mask[static_cast<size_t>(block * sizes.out_plane + window)];
    return scale * sample(x.data() + (n * total_channels + channel) * sizes.plane, windows.in, y, q);
  }
};

void check_deformation(KernelContext& c, const Sizes& s) {
  const auto& a = c.attrs<DeformConvAttrs>();
  const Shape& y = c.out(0).shape();
  Shape wanted = {s.batch, a.offset_group * s.cells * 2, y[2], y[3]};
  if (c.in(2).shape() != wanted) c.fail("offsets " + to_string(wanted), to_string(c.in(2).shape()));
  wanted[1] /= 2;
  if (c.has(4) && c.in(4).shape() != wanted)
    c.fail("a mask " + to_string(wanted), to_string(c.in(4).shape()));
  if (c.in(0).shape()[1] % a.offset_group != 0)
    c.fail("channels divisible by offset_group", to_string(c.in(0).shape()));
}

void deform_conv(KernelContext& c) {
  const auto& a = c.attrs<DeformConvAttrs>();
  Sizes s = conv_sizes(c, a.group);
  check_deformation(c, s);
  Deformation d{make_windows(window_attrs(a), spatial(c.in(0).shape()), spatial(c.in(1).shape()),
                             spatial(c.out(0).shape())),
                s,
                a.offset_group,
                c.in(0).shape()[1],
                load<double>(c.in(0)),
                load<double>(c.in(2)),
                c.has(4) ? load<double>(c.in(4)) : std::vector<double>()};
  auto prepare = [&](const Shape& position, int64_t count) {
    return
        [&d, position, count](int64_t image, double* columns) { d.gather(position, image, count, columns); };
  };
  auto out = convolve(s, d.windows.out, load<double>(c.in(1)), prepare);
  add_bias(c, 3, out);
  store(c.out(0), out);
}

}  // namespace

void add_convolution_kernels(KernelTable& t) {
  t[Op::Conv] = conv;
  t[Op::ConvTranspose] = conv_transpose;
  t[Op::DeformConv] = deform_conv;
}

}  // namespace ingot::reference
