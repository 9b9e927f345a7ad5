#pragma once

#include "device/cpu/routines/row_plan.h"

namespace ingot::cpu {

// The axes but one.
inline Strides without_axis(const Strides& from, size_t axis) {
  Strides to = {};
  std::copy_n(from.begin(), axis, to.begin());
  std::copy(from.begin() + static_cast<ptrdiff_t>(axis) + 1, from.end(),
            to.begin() + static_cast<ptrdiff_t>(axis));
  return to;
}

// N operands as lines along one axis; `strides` lack that axis. Neighbouring lines are taken together, up to
// kGroup: where they lie side by side, walking along all of them at once uses whole cache lines.
template <size_t N>
class Lines {
 public:
  static constexpr int64_t kGroup = 64;

  Lines(const View& x, size_t axis, const std::array<Strides, N>& strides)
      : plan_(x.rank - 1, without_axis(x.sizes, axis), strides),
        group_(std::abs(x.strides[axis]) < std::abs(plan_.step(0)) ? 1 : kGroup) {}

  int64_t step(size_t operand) const { return plan_.step(operand); }  // from line to line of a group

  // Calls f(offsets of the first line of a group, lines in it, thread).
  template <class F>
  void for_each_group(int64_t elements_per_line, ThreadPool& pool, F f) const {
    constexpr int64_t kChunkElements = 8 << 10;
    const int64_t length = plan_.length(), per_row = (length + group_ - 1) / group_;
    const int64_t each = std::max<int64_t>(std::min(group_, length) * elements_per_line, 1);
    pool.parallel_for(plan_.rows() * per_row, std::max<int64_t>(kChunkElements / each, 1),
                      [&](int64_t begin, int64_t end, int thread) {
                        StridedWalk<N> walk = plan_.start(begin / per_row);
                        for (int64_t i = begin, p = begin % per_row; i < end; ++i) {
                          std::array<int64_t, N> at = walk.at;
                          for (size_t k = 0; k < N; ++k) at[k] += p * group_ * plan_.step(k);
                          f(at, std::min(group_, length - p * group_), thread);
                          if (++p == per_row) p = 0, walk.next();
                        }
                      });
  }

 private:
  RowPlan<N> plan_;
  int64_t group_;
};

}  // namespace ingot::cpu
