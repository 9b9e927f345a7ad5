#pragma once

#include <optional>

#include "kernel/loop_nest.h"

// The loops of attention, made of the same kernels as all others. Accesses come in the order that the
// comments name.
namespace ingot::cpu {

struct ScoreForm {
  double scale = 1;
  double softcap = 0;  // 0: none
  // What a mask holds: truths, numbers that are added, or nothing for none. Whether it varies along rows and
  // columns.
  std::optional<DType> mask = {};
  bool mask_rows = false;
  bool mask_columns = false;
};

// Epilogue of query x keys: [mask,] scores (stored).
kernel::LoopNest score_epilogue(const ScoreForm& form);
// Epilogue of weights x values where all keys are in one block: sum of the weights, output (stored).
kernel::LoopNest whole_value_epilogue(DType out);
// Where they are not: sum so far, correction, sum (stored).
kernel::LoopNest carried_value_epilogue();

// Scores of a row become weights, beside the largest score and the sum of the weights so far: scores,
// largest, sum, then stored: weights, largest, sum, correction of earlier sums. Axes: rows, keys (reduced).
// Sizes: both extents, the elements from row to row.
kernel::LoopNest weigh_nest();
// The quotient of sums: values, weights; output (stored). Axes: heads, queries, elements. Sizes: the extents,
// the values' elements per head and query, the weights' per head, the output's per head and query.
kernel::LoopNest finish_nest(DType out);

// The largest score before there is any, and of rows that see nothing: as low as leaves differences to it
// numbers.
inline constexpr float kLowestScore = -3.402823466e38F;

}  // namespace ingot::cpu
