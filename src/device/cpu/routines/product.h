#pragma once

#include <cstdint>

// Products of a few rows with a matrix, for recurrent layers: out = base + x * transpose(weights), f32.
namespace ingot::cpu {

// `rows` x `depth` weights: either row by row as a model has them, or packed in panels of kPanel rows, in
// which the values of one step of depth lie side by side.
struct Weights {
  static constexpr int64_t kPanel = 32;

  const float* data = nullptr;
  int64_t rows = 0;
  int64_t depth = 0;
  int64_t row_stride = 0;  // between rows that are not packed
  bool packed = false;

  int64_t panels() const { return (rows + kPanel - 1) / kPanel; }
  int64_t packed_size() const { return panels() * kPanel * depth; }  // floats
};

// Packs rows that lie `row_stride` apart with elements `step` apart; missing rows of the last panel become
// zero.
Weights pack(const float* from, int64_t row_stride, int64_t step, int64_t rows, int64_t depth, float* to);

// Rows of numbers at equal distances.
struct Rows {
  const float* data;
  int64_t stride;  // 0: the same row for all
};

// For each of `count` rows: out[i][n] = base[i][n] + sum over k of x[i][k] * weights[n][k], for n in panels
// [first_panel, last_panel). No base: zero. Neither depends on how the panels are shared out.
void multiply(const Weights& weights, Rows x, Rows base, float* out, int64_t out_stride, int64_t count,
              int64_t first_panel, int64_t last_panel);

}  // namespace ingot::cpu
