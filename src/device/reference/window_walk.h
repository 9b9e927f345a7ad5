#pragma once

#include <vector>

#include "ingot/tensor.h"
#include "ir/window.h"

namespace ingot::reference {

// Windows over the spatial axes of one plane of a tensor that exists.
struct Windows {
  Shape in;      // spatial sizes of the data the windows read
  Shape out;     // how many windows along each axis
  Shape kernel;  // cells of a window along each axis
  std::vector<WindowAxis> axes;

  // Along one axis, where cell `k` of window `o` lies; may be outside the data.
  int64_t position(size_t axis, int64_t o, int64_t k) const {
    const WindowAxis& a = axes[axis];
    return o * a.stride + k * a.dilation - a.pad_begin;
  }
};

Windows make_windows(const WindowAttrs& attrs, Shape in, Shape kernel, Shape out);

// The sizes after the first two.
Shape spatial(const Shape& shape);

// For each cell of a window, in order: its offset in a plane, or -1 outside it. `window`: its position along
// each axis.
void window_offsets(const Windows& windows, const Shape& window, std::vector<int64_t>& offsets);

// Moves to the next position of a shape in row-major order.
void advance(Shape& position, const Shape& shape);

}  // namespace ingot::reference
