#include "device/reference/window_walk.h"

namespace ingot::reference {

Windows make_windows(const WindowAttrs& attrs, Shape in, Shape kernel, Shape out) {
  Windows w{std::move(in), std::move(out), std::move(kernel), {}};
  for (size_t i = 0; i < w.in.size(); ++i)
    w.axes.push_back(resolve_padding(attrs, window_axis(attrs, i, w.in.size()), w.in[i], w.kernel[i]));
  return w;
}

Shape spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

void window_offsets(const Windows& w, const Shape& window, std::vector<int64_t>& offsets) {
  offsets.assign(1, 0);
  for (size_t axis = 0; axis < w.in.size(); ++axis) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(w.kernel[axis]));
    for (int64_t base : offsets) {
      for (int64_t k = 0; k < w.kernel[axis]; ++k) {
        int64_t at = w.position(axis, window[axis], k);
        bool inside = base >= 0 && at >= 0 && at < w.in[axis];
        next.push_back(inside ? base * w.in[axis] + at : -1);
      }
    }
    offsets = std::move(next);
  }
}

void advance(Shape& position, const Shape& shape) {
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (++position[axis] < shape[axis]) return;
    position[axis] = 0;
  }
}

}  // namespace ingot::reference
