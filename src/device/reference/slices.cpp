#include "device/reference/slices.h"

#include "device/reference/elements.h"

namespace ingot::reference {
namespace {

int64_t rows_before(const Shape& shape, int64_t axis) {
  return element_count(Shape(shape.begin(), shape.begin() + axis));
}

int64_t run_from(const Shape& shape, int64_t axis) {
  return element_count(Shape(shape.begin() + axis, shape.end()));
}

// For each of `rows` rows, one run of every part.
Tensor interleave(std::span<const Tensor> parts, Shape shape, int64_t rows) {
  Tensor result = Tensor::allocate(parts[0].dtype(), std::move(shape));
  if (result.count() == 0) return result;
  with_cell(result.dtype(), [&](auto zero) {
    using T = decltype(zero);
    OutCells<T> out(result);
    int64_t step = result.count() / rows, offset = 0;
    for (const Tensor& part : parts) {
      Cells<T> in(part);
      int64_t run = part.count() / rows;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < run; ++i) out[r * step + offset + i] = in[r * run + i];
      offset += run;
    }
  });
  return result;
}

}  // namespace

int64_t axis_of(const KernelContext& c, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    c.fail(fmt::format("an axis in [{}, {}]", -rank, rank - 1), fmt::format("{}", axis));
  return axis < 0 ? axis + rank : axis;
}

Tensor slice(const Tensor& x, int64_t axis, int64_t begin, int64_t length) {
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = length;
  Tensor result = Tensor::allocate(x.dtype(), std::move(shape));
  if (result.count() == 0) return result;
  int64_t rows = rows_before(x.shape(), axis), step = run_from(x.shape(), axis);
  int64_t unit = run_from(x.shape(), axis + 1), run = length * unit;
  with_cell(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> in(x);
    OutCells<T> out(result);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < run; ++i) out[r * run + i] = in[r * step + begin * unit + i];
  });
  return result;
}

Tensor join(const KernelContext& c, std::span<const Tensor> parts, int64_t axis) {
  Shape shape = parts[0].shape();
  auto at = static_cast<size_t>(axis);
  shape[at] = 0;
  for (const Tensor& part : parts) {
    Shape other = part.shape();
    bool fits = part.dtype() == parts[0].dtype() && other.size() == shape.size();
    if (fits) {
      shape[at] += other[at];
      other[at] = shape[at];
    }
    if (!fits || other != shape)
      c.fail(fmt::format("parts like {} but for axis {}", to_string(Type::of(parts[0])), axis),
             to_string(Type::of(part)));
  }
  return interleave(parts, shape, rows_before(shape, axis));
}

Tensor stack(const KernelContext& c, std::span<const Tensor> parts, int64_t axis) {
  for (const Tensor& part : parts)
    if (part.dtype() != parts[0].dtype() || part.shape() != parts[0].shape())
      c.fail(fmt::format("slices of equal type, {} as the first", to_string(Type::of(parts[0]))),
             to_string(Type::of(part)));
  Shape shape = parts[0].shape();
  int64_t rows = rows_before(shape, axis);
  shape.insert(shape.begin() + axis, static_cast<int64_t>(parts.size()));
  return interleave(parts, std::move(shape), rows);
}

}  // namespace ingot::reference
