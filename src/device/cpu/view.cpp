#include "device/cpu/view.h"

#include "ingot/error.h"

namespace ingot::cpu {

bool View::is_dense() const {
  int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const auto axis = static_cast<size_t>(i);
    if (sizes[axis] != 1 && strides[axis] != step) return false;
    step *= sizes[axis];
  }
  return true;
}

View dense_view(DType dtype, const Shape& shape, std::byte* data) {
  View view{.dtype = dtype, .rank = static_cast<int>(shape.size()), .data = data};
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    view.sizes.at(i) = shape[i];
    view.strides.at(i) = step;
    step *= shape[i];
  }
  return view;
}

View view_of(const Tensor& tensor) {
  return dense_view(tensor.dtype(), tensor.shape(), const_cast<std::byte*>(tensor.bytes().data()));
}

}  // namespace ingot::cpu
