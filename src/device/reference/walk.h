#pragma once

#include <array>

#include "ingot/tensor.h"

// Walking over the positions of a shape in row-major order.
namespace ingot::reference {

Shape row_major_strides(const Shape& shape);
// Strides that read a tensor of shape `from` as if it were broadcast to `to`: 0 along stretched axes.
Shape broadcast_strides(const Shape& from, const Shape& to);

// Calls f(i, offsets) for each position: i counts 0, 1, 2 ...; offsets[k] is the dot product of the position
// with strides[k].
template <size_t N, class F>
void walk(const Shape& shape, const std::array<Shape, N>& strides, F f) {
  int64_t count = element_count(shape);
  Shape position(shape.size(), 0);
  std::array<int64_t, N> offsets{};
  for (int64_t i = 0; i < count; ++i) {
    f(i, offsets);
    for (size_t axis = shape.size(); axis-- > 0;) {
      for (size_t k = 0; k < N; ++k) offsets[k] += strides[k][axis];
      if (++position[axis] < shape[axis]) break;
      for (size_t k = 0; k < N; ++k) offsets[k] -= strides[k][axis] * shape[axis];
      position[axis] = 0;
    }
  }
}

}  // namespace ingot::reference
