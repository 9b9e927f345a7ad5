#pragma once

#include <algorithm>

#include "base/thread_pool.h"
#include "device/cpu/routines/walk.h"

namespace ingot::cpu {

// N operands of equal sizes walked together, in as few axes as their strides allow: rows along the last axis,
// and a walk over the others.
template <size_t N>
class RowPlan {
 public:
  RowPlan(int rank, const Strides& sizes, const std::array<Strides, N>& strides) {
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
      if (sizes[i] == 1) continue;
      std::array<int64_t, N> axis;
      for (size_t k = 0; k < N; ++k) axis[k] = strides[k][i];
      push(sizes[i], axis);
    }
    if (rank_ == 0) push(1, {});
  }

  int64_t length() const { return sizes_[last()]; }
  int64_t step(size_t operand) const { return strides_[operand][last()]; }
  int64_t rows() const {
    int64_t n = 1;
    for (size_t i = 0; i < last(); ++i) n *= sizes_[i];
    return n;
  }
  StridedWalk<N> start(int64_t row) const { return {rank_ - 1, sizes_, strides_, row}; }

 private:
  size_t last() const { return static_cast<size_t>(rank_ - 1); }

  // Merges the axis with the one before where all operands walk on from where it ends.
  void push(int64_t size, const std::array<int64_t, N>& axis) {
    bool merges = rank_ > 0;
    for (size_t k = 0; merges && k < N; ++k) merges = strides_[k][last()] == axis[k] * size;
    if (!merges) ++rank_;
    sizes_[last()] = merges ? sizes_[last()] * size : size;
    for (size_t k = 0; k < N; ++k) strides_[k][last()] = axis[k];
  }

  int rank_ = 0;
  Strides sizes_ = {};
  std::array<Strides, N> strides_ = {};
};

// Calls f(offsets, count) for pieces of at most `piece` elements of the rows [of all of them], shared out.
template <size_t N, class F>
void for_each_piece(const RowPlan<N>& plan, int64_t piece, ThreadPool& pool, F f) {
  const int64_t length = plan.length(), per_row = (length + piece - 1) / piece;
  pool.parallel_for(plan.rows() * per_row, std::max<int64_t>(piece / std::max<int64_t>(length, 1), 1),
                    [&](int64_t begin, int64_t end, int) {
                      StridedWalk<N> walk = plan.start(begin / per_row);
                      for (int64_t i = begin, p = begin % per_row; i < end; ++i) {
                        std::array<int64_t, N> at = walk.at;
                        for (size_t k = 0; k < N; ++k) at[k] += p * piece * plan.step(k);
                        f(at, std::min(piece, length - p * piece));
                        if (++p == per_row) p = 0, walk.next();
                      }
                    });
}

}  // namespace ingot::cpu
