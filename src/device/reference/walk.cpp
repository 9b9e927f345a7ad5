#include "device/reference/walk.h"

namespace ingot::reference {

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

Shape broadcast_strides(const Shape& from, const Shape& to) {
  Shape strides(to.size(), 0);
  Shape own = row_major_strides(from);
  size_t offset = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[offset + i] = own[i];
  return strides;
}

AxisView::AxisView(const Shape& shape, int64_t axis)
    : outer(element_count(Shape(shape.begin(), shape.begin() + axis))),
      length(shape[static_cast<size_t>(axis)]),
      inner(element_count(Shape(shape.begin() + axis + 1, shape.end()))) {}

}  // namespace ingot::reference
