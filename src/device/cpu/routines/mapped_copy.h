#pragma once

#include <limits>

#include "device/cpu/routines/operands.h"

namespace ingot::cpu {

// Ops that take each axis by itself: position (i0, i1, ...) of the output reads the input at the sum of
// maps[k][ik]. The maps lie in scratch memory.
class AxisMaps {
 public:
  static constexpr int64_t kNowhere = std::numeric_limits<int64_t>::min();  // reads the fill element instead

  // One number per position of each axis of the output.
  static int64_t bytes(const View& out);

  // Maps every axis by the strides of x, as far as it reaches; the caller changes what it wants otherwise.
  AxisMaps(const View& x, const View& out, std::byte* scratch);

  std::span<int64_t> axis(size_t k);

  // Fills the output; `fill` points to one element, or is null where zero will do.
  void copy(const std::byte* fill, ThreadPool& pool) const;

 private:
  template <class T>
  void copy_rows(T fill, int64_t begin, int64_t end) const;

  const View& x_;
  const AxisOrder order_;  // axes that lie close together in the output are walked innermost
  const View out_;         // in that order
  std::array<int64_t*, kMaxRank> maps_ = {};  // in that order
};

}  // namespace ingot::cpu
