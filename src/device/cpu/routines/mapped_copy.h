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

  std::span<int64_t> axis(size_t k) { return {maps_[k], static_cast<size_t>(out_.sizes[k])}; }

  // Fills the output; `fill` points to one element, or is null where zero will do.
  void copy(const std::byte* fill, ThreadPool& pool) const;

 private:
  template <class T>
  void copy_rows(T fill, int64_t begin, int64_t end) const;

  const View &x_, &out_;
  std::array<int64_t*, kMaxRank> maps_ = {};
};

}  // namespace ingot::cpu
