#include "device/cpu/block_product.h"

#include <algorithm>
#include <cstring>

#include "device/cpu/block_digits.h"
#include "device/cpu/routines/lanes.h"

// Vectors are returned by functions that are always inlined: no calling convention is involved.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace ingot::cpu {
namespace {

using Words = int32_t __attribute__((vector_size(64), aligned(4), may_alias));
using Halves = uint16_t __attribute__((vector_size(32), aligned(2), may_alias));

constexpr int64_t kPanel = BlockLayout::kPanel;
constexpr int kVectors = kPanel / kLanes;
constexpr int64_t kDepth =
    128;  // of the weights that are floats at a time: they stay in the first-level cache
constexpr int kTileRows = 6;

// Sixteen f16 numbers that are normal or zero: the bits moved to their places, then the exponent put right.
INGOT_INLINE Lanes from_halves(const std::byte* p) {
  const Words bits = __builtin_convertvector(*reinterpret_cast<const Halves*>(p), Words);
  const Words magnitude = (bits & 0x7fff) << 13;
  const Lanes value = reinterpret_cast<const Lanes&>(magnitude) * 0x1p112f;
  const Words result = reinterpret_cast<const Words&>(value) | (bits & 0x8000) << 16;
  return reinterpret_cast<const Lanes&>(result);
}

// The parts of one block of a panel.
struct Block {
  const std::byte* scales;
  const float* zeros;  // null: all are layout.zero
  const std::byte* words;
};

INGOT_INLINE Block block_at(const BlockLayout& layout, const std::byte* p) {
  const std::byte* next = p + layout.scale_bytes();
  const auto* zeros = layout.has_zeros ? reinterpret_cast<const float*>(next) : nullptr;
  return {p, zeros, next + (layout.has_zeros ? kPanel * 4 : 0)};
}

INGOT_INLINE Lanes scale_of(const BlockLayout& layout, const Block& block, int v) {
  if (layout.half_scales) return from_halves(block.scales + v * kLanes * 2);
  return lanes(reinterpret_cast<const float*>(block.scales) + v * kLanes);
}

INGOT_INLINE Lanes zero_of(const BlockLayout& layout, const Block& block, int v) {
  return block.zeros ? lanes(block.zeros + v * kLanes) : Lanes{} + layout.zero;
}

// Value i of each word.
template <int Bits>
INGOT_INLINE Lanes values(const Words& words, int i) {
  return __builtin_convertvector((words >> (i * Bits)) & ((1 << Bits) - 1), Lanes);
}

// One row. Two sums for each vector, so that the additions of one need not wait for each other.
template <int Bits>
INGOT_INLINE void multiply_row(const BlockProduct& p, const std::byte* panel, const float* sums, float* out) {
  constexpr int kPerWord = 32 / Bits;
  const BlockLayout& layout = p.layout;
  Lanes total[kVectors] = {};
  const float* x = p.x;
  for (int64_t b = 0; b < layout.blocks(); ++b, panel += layout.block_bytes()) {
    const Block block = block_at(layout, panel);
    Lanes even[kVectors] = {}, odd[kVectors] = {};
    const std::byte* words = block.words;
    for (int64_t k = 0; k < layout.block; k += kPerWord, x += kPerWord, words += kPanel * 4)
      for (int v = 0; v < kVectors; ++v) {
        const Words word = *reinterpret_cast<const Words*>(words + v * kLanes * 4);
        for (int i = 0; i < kPerWord; i += 2) {
          even[v] += x[i] * values<Bits>(word, i);
          odd[v] += x[i + 1] * values<Bits>(word, i + 1);
        }
      }
    for (int v = 0; v < kVectors; ++v)
      total[v] += scale_of(layout, block, v) * (even[v] + odd[v] - zero_of(layout, block, v) * sums[b]);
  }
  for (int v = 0; v < kVectors; ++v) lanes(out + v * kLanes) = total[v];
}

template <int Bits>
INGOT_INLINE void dequantise(const BlockLayout& layout, const std::byte* from, float* to) {
  constexpr int kPerWord = 32 / Bits;
  const Block block = block_at(layout, from);
  for (int v = 0; v < kVectors; ++v) {
    const Lanes scale = scale_of(layout, block, v), zero = zero_of(layout, block, v);
    for (int64_t k = 0; k < layout.block; k += kPerWord) {
      const Words word =
          *reinterpret_cast<const Words*>(block.words + (k / kPerWord * kPanel + v * kLanes) * 4);
      for (int i = 0; i < kPerWord; ++i)
        lanes(to + (k + i) * kPanel + v * kLanes) = (values<Bits>(word, i) - zero) * scale;
    }
  }
}

// Adds M rows of x times a block of floats to sums.
template <int M>
INGOT_INLINE void add_tile(const float* x, int64_t x_stride, const float* block, int64_t depth, float* sums) {
  Lanes tile[M][kVectors];
  for (int m = 0; m < M; ++m)
    for (int v = 0; v < kVectors; ++v) tile[m][v] = lanes(sums + m * kPanel + v * kLanes);
  for (int64_t k = 0; k < depth; ++k)
    for (int m = 0; m < M; ++m)
      for (int v = 0; v < kVectors; ++v)
        tile[m][v] += x[m * x_stride + k] * lanes(block + k * kPanel + v * kLanes);
  for (int m = 0; m < M; ++m)
    for (int v = 0; v < kVectors; ++v) lanes(sums + m * kPanel + v * kLanes) = tile[m][v];
}

INGOT_INLINE void add_rows(const float* x, int64_t x_stride, const float* block, int64_t depth, float* sums,
                           int64_t rows) {
  int64_t r = 0;
  for (; r + kTileRows <= rows; r += kTileRows)
    add_tile<kTileRows>(x + r * x_stride, x_stride, block, depth, sums + r * kPanel);
  switch (rows - r) {
    case 5: return add_tile<5>(x + r * x_stride, x_stride, block, depth, sums + r * kPanel);
    case 4: return add_tile<4>(x + r * x_stride, x_stride, block, depth, sums + r * kPanel);
    case 3: return add_tile<3>(x + r * x_stride, x_stride, block, depth, sums + r * kPanel);
    case 2: return add_tile<2>(x + r * x_stride, x_stride, block, depth, sums + r * kPanel);
    case 1: return add_tile<1>(x + r * x_stride, x_stride, block, depth, sums + r * kPanel);
    default: return;
  }
}

// Blocks that become floats together.
int64_t blocks_together(const BlockLayout& layout) {
  return std::clamp<int64_t>(kDepth / layout.block, 1, layout.blocks());
}

// Rows of x, regrouped: all rows of the depth that is floats at a time follow each other. Rows that are far
// apart by a power of two would push each other out of the cache.
void regroup_rows(const BlockProduct& p, float* to) {
  const BlockLayout& layout = p.layout;
  const int64_t step = blocks_together(layout) * layout.block;
  for (int64_t k = 0; k < layout.depth; k += step) {
    const int64_t count = std::min(step, layout.depth - k);
    for (int64_t r = 0; r < p.rows; ++r, to += count) std::copy_n(p.x + r * layout.depth + k, count, to);
  }
}

// Several rows: each block becomes floats once. `own`: the floats of some blocks, then the sums.
template <int Bits>
INGOT_INLINE void multiply_rows(const BlockProduct& p, const std::byte* panel, const float* x, float* own) {
  const BlockLayout& layout = p.layout;
  const int64_t together = blocks_together(layout);
  float* sums = own + together * layout.block * kPanel;
  std::memset(sums, 0, static_cast<size_t>(p.rows * kPanel) * sizeof(float));
  for (int64_t b = 0; b < layout.blocks(); b += together) {
    const int64_t count = std::min(together, layout.blocks() - b), depth = count * layout.block;
    for (int64_t i = 0; i < count; ++i)
      dequantise<Bits>(layout, panel + (b + i) * layout.block_bytes(), own + i * layout.block * kPanel);
    add_rows(x, depth, own, depth, sums, p.rows);
    x += p.rows * depth;
  }
}

INGOT_SIMD void multiply_row_4(const BlockProduct& p, const std::byte* panel, const float* sums, float* out) {
  multiply_row<4>(p, panel, sums, out);
}
INGOT_SIMD void multiply_row_8(const BlockProduct& p, const std::byte* panel, const float* sums, float* out) {
  multiply_row<8>(p, panel, sums, out);
}
INGOT_SIMD void multiply_rows_4(const BlockProduct& p, const std::byte* panel, const float* x, float* own) {
  multiply_rows<4>(p, panel, x, own);
}
INGOT_SIMD void multiply_rows_8(const BlockProduct& p, const std::byte* panel, const float* x, float* own) {
  multiply_rows<8>(p, panel, x, own);
}

// `x`: the rows, regrouped.
void multiply_several(const BlockProduct& p, const std::byte* panel, const float* x, int64_t first_column,
                      float* own) {
  const int64_t there = std::min(kPanel, p.layout.columns - first_column);
  p.layout.bits == 4 ? multiply_rows_4(p, panel, x, own) : multiply_rows_8(p, panel, x, own);
  const float* sums = own + blocks_together(p.layout) * p.layout.block * kPanel;
  for (int64_t r = 0; r < p.rows; ++r)
    std::copy_n(sums + r * kPanel, there, p.out + r * p.layout.columns + first_column);
}

}  // namespace

// For one row: whether it is in digits, the sums of its blocks, the digits. For several: all of them.
int64_t BlockProduct::shared_floats() const {
  if (rows != 1) return rows * layout.depth;
  return 1 + layout.blocks() + (has_block_digits(layout) ? block_digit_floats(layout) : 0);
}

int64_t BlockProduct::thread_floats() const {
  if (rows == 1) return kPanel;
  return (blocks_together(layout) * layout.block + rows) * kPanel;
}

void prepare_rows(const BlockProduct& product, float* shared) {
  const BlockLayout& layout = product.layout;
  if (product.rows != 1) return regroup_rows(product, shared);
  const bool in_digits =
      has_block_digits(layout) && make_block_digits(layout, product.x, shared + 1 + layout.blocks());
  *shared++ = in_digits ? 1 : 0;
  if (in_digits) return;
  for (int64_t b = 0; b < layout.blocks(); ++b) {
    const float* x = product.x + b * layout.block;
    float sums[4] = {};
    for (int64_t k = 0; k < layout.block; k += 4)
      for (int i = 0; i < 4; ++i) sums[i] += x[k + i];
    shared[b] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

void multiply_panels(const BlockProduct& p, const float* shared, float* own, int64_t begin, int64_t end) {
  const auto row = p.layout.bits == 4 ? multiply_row_4 : multiply_row_8;
  for (int64_t panel = begin; panel < end; ++panel) {
    const std::byte* weights = p.weights + panel * p.layout.panel_bytes();
    const int64_t column = panel * kPanel;
    if (p.rows != 1) {
      multiply_several(p, weights, shared, column, own);
      continue;
    }
    const bool whole = column + kPanel <= p.layout.columns;
    float* const out = whole ? p.out + column : own;
    if (shared[0] != 0)
      multiply_block_digits(p.layout, weights, shared + 1 + p.layout.blocks(), out);
    else
      row(p, weights, shared + 1, out);
    if (!whole) std::copy_n(own, p.layout.columns - column, p.out + column);
  }
}

}  // namespace ingot::cpu
