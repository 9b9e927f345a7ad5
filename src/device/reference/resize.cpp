#include <cmath>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/slices.h"
#include "ir/resize_geometry.h"

namespace ingot::reference {
namespace {

// Which input positions make one output position, along one axis. `outside`: none, the extrapolation value
// stands.
struct Taps {
  bool outside = false;
  std::vector<int64_t> index;
  std::vector<double> weight;
};

std::vector<Taps> taps_of(const ResizeAttrs& a, const ResizeAxis& axis) {
  std::vector<Taps> out(static_cast<size_t>(axis.out));
  for (size_t o = 0; o < out.size(); ++o) {
    double x = axis.coordinate(static_cast<int64_t>(o), a.coordinates);
    if (axis.is_outside(x, a.coordinates))
      out[o].outside = true;
    else if (a.mode == ResizeMode::nearest)
      out[o] = {false, {nearest_position(axis, a.nearest, x)}, {1}};
    else
      blend_taps(a, axis, x, [&](int64_t index, double weight) {
        out[o].index.push_back(index);
        out[o].weight.push_back(weight);
      });
  }
  return out;
}

struct Around {
  int64_t rows;  // positions before the axis
  int64_t run;   // elements after it
};

Around around(const Shape& shape, int64_t axis) {
  return {element_count(Shape(shape.begin(), shape.begin() + axis)),
          element_count(Shape(shape.begin() + axis + 1, shape.end()))};
}

// Moves whole elements along one axis.
Tensor pick(const Tensor& x, const ResizeAxis& axis, const std::vector<Taps>& taps, double extrapolation) {
  Shape shape = x.shape();
  const Around around_axis = around(shape, axis.axis);
  const int64_t rows = around_axis.rows, run = around_axis.run;
  shape[static_cast<size_t>(axis.axis)] = axis.out;
  Tensor result = Tensor::allocate(x.dtype(), std::move(shape)), fill = Tensor::allocate(x.dtype(), {1});
  store(fill, std::vector<double>{extrapolation});
  with_cell(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, std::string>) {
      Cells<T> in(x), beyond(fill);
      OutCells<T> out(result);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t o = 0; o < axis.out; ++o) {
          const Taps& t = taps[static_cast<size_t>(o)];
          for (int64_t i = 0; i < run; ++i)
            out[(r * axis.out + o) * run + i] =
                t.outside ? beyond[0] : in[(r * axis.in + t.index[0]) * run + i];
        }
    }
  });
  return result;
}

std::vector<double> blend(const std::vector<double>& x, const Shape& shape, const ResizeAxis& axis,
                          const std::vector<Taps>& taps, double extrapolation) {
  const Around around_axis = around(shape, axis.axis);
  const int64_t rows = around_axis.rows, run = around_axis.run;
  std::vector<double> out(static_cast<size_t>(rows * axis.out * run));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < axis.out; ++o) {
      const Taps& t = taps[static_cast<size_t>(o)];
      double* to = out.data() + (r * axis.out + o) * run;
      if (t.outside) std::fill_n(to, run, extrapolation);
      for (size_t k = 0; k < t.index.size(); ++k) {
        const double* from = x.data() + (r * axis.in + t.index[k]) * run;
        for (int64_t i = 0; i < run; ++i) to[i] += t.weight[k] * from[i];
      }
    }
  }
  return out;
}

std::vector<ResizeAxis> axes_of(KernelContext& c) {
  const auto& a = c.attrs<ResizeAttrs>();
  std::vector<double> roi, scales = a.scales;
  std::vector<int64_t> sizes;
  if (c.has(1)) roi = load<double>(c.in(1));
  if (c.has(2)) scales = load<double>(c.in(2));
  if (c.has(3)) sizes = load<int64_t>(c.in(3));
  return resize_axes(a, c.in(0).shape(), roi, scales, sizes);
}

// Interpolation is separable: one axis after the other.
void resize(KernelContext& c) {
  const auto& a = c.attrs<ResizeAttrs>();
  auto axes = axes_of(c);
  std::erase_if(axes, [&](const ResizeAxis& axis) { return axis.is_identity(a.coordinates); });
  Shape shape = c.in(0).shape();
  if (a.mode == ResizeMode::nearest) {
    Tensor x = c.in(0);
    for (const ResizeAxis& axis : axes) x = pick(x, axis, taps_of(a, axis), a.extrapolation);
    return c.set(0, std::move(x));
  }
  for (const ResizeAxis& axis : axes) shape[static_cast<size_t>(axis.axis)] = axis.out;
  Tensor result = Tensor::allocate(c.in(0).dtype(), shape);  // first: it refuses sizes that no memory holds
  shape = c.in(0).shape();
  auto x = load<double>(c.in(0));
  for (const ResizeAxis& axis : axes) {
    x = blend(x, shape, axis, taps_of(a, axis), a.extrapolation);
    shape[static_cast<size_t>(axis.axis)] = axis.out;
  }
  store(result, x);
  c.set(0, std::move(result));
}

}  // namespace

void add_resize_kernels(KernelTable& t) { t[Op::Resize] = resize; }

}  // namespace ingot::reference
