#pragma once

#include <array>

#include "device/cpu/view.h"

namespace ingot::cpu {

using Strides = std::array<int64_t, kMaxRank>;

// Visits the positions of a box in row-major order and keeps, for N sets of strides, the offset of the
// position.
template <size_t N>
class StridedWalk {
 public:
  // The box spans the first `rank` of `sizes`; the walk begins at position number `start`.
  StridedWalk(int rank, const Strides& sizes, const std::array<Strides, N>& strides, int64_t start = 0)
      : rank_(static_cast<size_t>(rank)), sizes_(sizes), strides_(strides) {
    for (size_t axis = rank_; axis-- > 0 && start > 0;) {
      position_[axis] = start % sizes_[axis];
      start /= sizes_[axis];
      for (size_t k = 0; k < N; ++k) at[k] += position_[axis] * strides_[k][axis];
    }
  }

  void next() {
    for (size_t axis = rank_; axis-- > 0;) {
      for (size_t k = 0; k < N; ++k) at[k] += strides_[k][axis];
      if (++position_[axis] < sizes_[axis]) return;
      for (size_t k = 0; k < N; ++k) at[k] -= strides_[k][axis] * sizes_[axis];
      position_[axis] = 0;
    }
  }

  int64_t position(size_t axis) const { return position_[axis]; }

  std::array<int64_t, N> at = {};  // offsets of the current position

 private:
  size_t rank_;
  Strides sizes_;
  std::array<Strides, N> strides_;
  Strides position_ = {};
};

}  // namespace ingot::cpu
