#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernel/loop_nest.h"

// Matrix products, convolutions and pooling in numbers: what the lowering says about one of them and what the
// drivers in tile_plan.h walk. All strides are in bytes unless said otherwise.
//
//   dot        out[row, column] = sum over taps and depth of a[row, tap, k] * b[tap, k, column]
//   depthwise  out[row, column] = sum over taps of a[row, tap, column] * b[tap, column]
//   max, sum   out[row, column] = max or sum over taps of a[row, tap, column]
//
// followed by the epilogue. A matrix product has one tap. The rows of a convolution are its output positions,
// its columns the output channels; activations are channels-last, so that the depth of a row is contiguous. A
// convolution of very few channels may fold its innermost window axis into the depth (depth = kw * channels,
// taps over kh alone) where that axis has no padding, or padding that lies in memory. A transposed
// convolution is one problem per phase of its strides: rows are the outputs of that phase, taps the weights
// that reach them (a negative dilation is allowed).
namespace ingot::cpu {

inline constexpr size_t kOuterDims = 3;  // repeated problems: batches, heads, groups
inline constexpr size_t kRowDims = 4;    // n, d, h, w; the innermost last

// Somewhere in the memory of one run: memory[slot] + offset, plus outer strides.
struct TilePlace {
  int32_t slot = 0;
  int64_t offset = 0;
  std::array<int64_t, kOuterDims> outer = {};
};

// An axis of the rows: output positions, and the window over input positions that each of them sees. Tap t of
// output o reads input position o * step + t * dilation - before; outside [0, input) it reads padding.
struct RowAxis {
  int64_t extent = 1;  // output positions
  int64_t stride = 0;  // between input positions of a
  int64_t input = 1;   // input positions
  int64_t taps = 1;
  int64_t step = 1;
  int64_t dilation = 1;
  int64_t before = 0;
};
inline RowAxis plain_rows(int64_t extent, int64_t stride) {
  return {.extent = extent, .stride = stride, .input = extent};
}

// An access of the epilogue, at row (0, 0, 0, 0) and column 0.
struct TileAccess {
  TilePlace place;
  std::array<int64_t, kRowDims> rows = {};  // between output positions
  int64_t column = 0;                       // the element size, or 0: the same for all columns
};

struct TileProblem {
  std::array<int64_t, kOuterDims> outer = {1, 1, 1};
  std::array<RowAxis, kRowDims> rows;
  int64_t columns = 1;
  int64_t depth = 1;  // dot: products per tap, contiguous in a (u8: rounded up to 4, readable); otherwise 1

  TilePlace a;
  double padding = 0;  // what taps outside the input read: 0, the zero point, or minus infinity for max

  TilePlace b;           // packed as pack.h says for the same TileChoice, outer strides between packed pieces
  int64_t b_stride = 0;  // not packed: bytes between rows of `columns` contiguous elements

  std::vector<TileAccess> accesses;  // those of TileKernel::epilogue, in its order
  std::vector<int64_t> sizes;        // TileCall::sizes

  int64_t row_count() const { return rows[0].extent * rows[1].extent * rows[2].extent * rows[3].extent; }
  int64_t tap_count() const { return rows[0].taps * rows[1].taps * rows[2].taps * rows[3].taps; }
};

}  // namespace ingot::cpu
