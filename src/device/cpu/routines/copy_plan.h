#pragma once

#include "device/cpu/routines/walk.h"

namespace ingot::cpu {

// A copy reduced to as few loops as it takes: axes of size 1 gone, neighbours that walk on together merged,
// the axis that is innermost in the destination last, and before it, if there is one, the axis that is
// innermost in the source.
struct CopyPlan {
  struct Axis {
    int64_t size = 1, from = 0, to = 0;  // strides in elements
  };

  int rank = 0;  // at least 1 unless empty
  std::array<Axis, kMaxRank> axes = {};
  bool transposes = false;  // the last two axes are a transposition
  bool empty = false;       // nothing to copy

  // The loops around what one call of an inner kernel moves: `rows` of them.
  int outer_rank() const { return rank - (transposes ? 2 : 1); }
  int64_t rows() const;
  const Axis& last() const { return axes[static_cast<size_t>(rank - 1)]; }
  const Axis& second_last() const { return axes[static_cast<size_t>(rank - 2)]; }
};

CopyPlan plan_copy(const View& from, const View& to);

// Over the outer rows of a plan: offsets {from, to}.
StridedWalk<2> walk_rows(const CopyPlan& plan, int64_t start);

}  // namespace ingot::cpu
