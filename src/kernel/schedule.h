#pragma once

#include "kernel/loop_nest.h"

// How a nest is walked, as far as it does not depend on the emitter.
namespace ingot::kernel {

// About how many instructions an expression takes per vector, without its operands.
int weight(const Expr& expr);

// The reduced axes of a nest are walked several times where a reduction needs the result of another: softmax
// takes the maximum, then the sum of exponentials, then stores.
struct Walks {
  int32_t count = 0;
  std::vector<bool> along;  // per expression: varies along a reduced axis
  std::vector<int32_t>
      walk;  // per expression: the earliest walk that can compute it; of a reduction: that folds it
  std::vector<bool> needed;  // per expression: by a store
  std::vector<bool>
      stored;  // per store: in the last walk; others after it, once per point of the parallel axes
  // Expressions that are too dear to compute again: their first walk leaves them in scratch for later ones.
  struct Kept {
    int32_t expr;
    int32_t walk;
    friend bool operator==(const Kept&, const Kept&) = default;
  };
  std::vector<Kept> kept;
};
Walks plan_walks(const LoopNest& nest);

// Whether vectors lie along the last parallel axis, and each lane folds a column of its own.
bool folds_columns(const LoopNest& nest);

// Scratch holds one slot per kept expression, of f32, in the order of the walk. Of rows: each padded to
// kRowPadding elements. Of columns: kColumnBlock per point of the reduced axes.
inline constexpr int64_t kRowPadding = 16;
inline constexpr int64_t kColumnBlock = 64;

}  // namespace ingot::kernel
