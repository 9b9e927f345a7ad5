#pragma once

#include <array>

#include "ingot/tensor.h"

// Walking over the positions of a shape in row-major order.
namespace ingot::reference {

Shape row_major_strides(const Shape& shape);
// Strides that read a tensor of shape `from` as if it were broadcast to `to`: 0 along stretched axes.
Shape broadcast_strides(const Shape& from, const Shape& to);

// Calls f(i, offsets) for each position: i counts 0, 1, 2 ...; offsets[k] is the dot product of the position
// with strides[k]. The last axis is a loop of its own, so that most steps carry nothing.
template <size_t N, class F>
void walk(const Shape& shape, const std::array<Shape, N>& strides, F f) {
  int64_t count = element_count(shape);
  int64_t row = shape.empty() ? 1 : shape.back();
  std::array<int64_t, N> step{};
  for (size_t k = 0; k < N; ++k) step[k] = shape.empty() ? 0 : strides[k].back();
  Shape position(shape.size(), 0);
  std::array<int64_t, N> start{};
  for (int64_t i = 0; i < count;) {
    auto offsets = start;
    for (int64_t end = i + row; i < end; ++i) {
      f(i, offsets);
      for (size_t k = 0; k < N; ++k) offsets[k] += step[k];
    }
    for (size_t axis = shape.empty() ? 0 : shape.size() - 1; axis-- > 0;) {
      for (size_t k = 0; k < N; ++k) start[k] += strides[k][axis];
      if (++position[axis] < shape[axis]) break;
      for (size_t k = 0; k < N; ++k) start[k] -= strides[k][axis] * shape[axis];
      position[axis] = 0;
    }
  }
}

// How the positions of an output map to a tensor, axis by axis: the offset that each position along an axis
// adds, or -1 where nothing lies behind it.
using AxisMaps = std::vector<std::vector<int64_t>>;

// Calls f(i, offset) for each position in row-major order; the offset is -1 if that of any axis is.
template <class F>
void walk_mapped(const AxisMaps& maps, F f) {
  int64_t i = 0;
  auto step = [&](auto& self, size_t axis, int64_t offset) -> void {
    if (axis == maps.size()) return f(i++, offset);
    for (int64_t at : maps[axis]) self(self, axis + 1, offset < 0 || at < 0 ? -1 : offset + at);
  };
  step(step, 0, 0);
}

// A shape seen along one axis: element (o, k, i) lies at (o * length + k) * inner + i.
struct AxisView {
  AxisView(const Shape& shape, int64_t axis);
  int64_t outer, length, inner;
};

// An axis counted from the end when negative.
inline int64_t normal_axis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

}  // namespace ingot::reference
