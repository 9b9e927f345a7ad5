#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ingot/tensor.h"

namespace ingot::cpu {

inline constexpr int kMaxRank = 8;  // tensors of more dimensions run on reference kernels

// Elements somewhere in memory: element (i0, i1, ...) lies at data + sum(i * stride) * element size. Owns
// nothing.
struct View {
  DType dtype = DType::f32;
  int rank = 0;
  std::array<int64_t, kMaxRank> sizes = {};
  std::array<int64_t, kMaxRank> strides = {};  // in elements; 0 repeats, negative walks backwards
  std::byte* data = nullptr;

  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= sizes[static_cast<size_t>(i)];
    return n;
  }
  bool is_dense() const;  // row-major without gaps
};

View dense_view(DType dtype, const Shape& shape, std::byte* data);
View view_of(const Tensor& tensor);  // reading only

}  // namespace ingot::cpu
