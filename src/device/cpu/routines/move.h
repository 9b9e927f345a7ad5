#pragma once

#include <algorithm>
#include <cstring>

#include "device/cpu/routines/copy_plan.h"
#include "device/cpu/routines/simd.h"
#include "device/cpu/routines/transpose.h"

// Moving cells on the calling thread.
namespace ingot::cpu {

template <class T>
INGOT_INLINE void move_run(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t count) {
  constexpr int64_t kShort = 64;  // below, a call of memcpy takes longer than a loop
  if (from_step == 1 && to_step == 1 && count * static_cast<int64_t>(sizeof(T)) >= kShort)
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  else if (from_step == 1 && to_step == 1)
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
  else if (from_step == 0 && to_step == 1)
    std::fill_n(to, count, *from);
  else if (to_step == 1)
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * from_step];
  else
    for (int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
}

// All that a plan moves.
template <class T>
void move_planned(const CopyPlan& plan, const T* from, T* to) {
  if (plan.empty) return;
  const CopyPlan::Axis last = plan.last();
  if (plan.outer_rank() == 0 && !plan.transposes) return move_run(from, last.from, to, last.to, last.size);
  StridedWalk<2> walk = walk_rows(plan, 0);
  for (int64_t rows = plan.rows(); rows > 0; --rows, walk.next()) {
    if (plan.transposes)
      transpose_block(from + walk.at[0], last.from, to + walk.at[1], plan.second_last().to,
                      plan.second_last().size, last.size);
    else
      move_run(from + walk.at[0], last.from, to + walk.at[1], last.to, last.size);
  }
}

}  // namespace ingot::cpu
