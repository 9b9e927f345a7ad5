#include "device/cpu/routines/product.h"

#include <algorithm>
#include <cstring>

#include "device/cpu/routines/lanes.h"
#include "device/cpu/routines/transpose.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kPanel = Weights::kPanel, kVectors = kPanel / kLanes;

// M rows of x against one panel. Few rows take several steps of depth at once, into sums of their own: one
// chain of dependent additions would leave the processor waiting.
template <int M, int Unroll>
INGOT_INLINE void multiply_panel(const float* panel, int64_t depth, const float* x, int64_t x_stride,
                                 const float* base, int64_t base_stride, float* out, int64_t out_stride) {
  Lanes sums[Unroll][M][kVectors] = {};
  int64_t k = 0;
  for (; k + Unroll <= depth; k += Unroll)
    for (int u = 0; u < Unroll; ++u)
      for (int m = 0; m < M; ++m)
        for (int v = 0; v < kVectors; ++v)
          sums[u][m][v] += x[m * x_stride + k + u] * lanes(panel + (k + u) * kPanel + v * kLanes);
  for (; k < depth; ++k)
    for (int m = 0; m < M; ++m)
      for (int v = 0; v < kVectors; ++v)
        sums[0][m][v] += x[m * x_stride + k] * lanes(panel + k * kPanel + v * kLanes);
  for (int m = 0; m < M; ++m)
    for (int v = 0; v < kVectors; ++v) {
      Lanes sum = sums[0][m][v];
      for (int u = 1; u < Unroll; ++u) sum += sums[u][m][v];
      lanes(out + m * out_stride + v * kLanes) = lanes(base + m * base_stride + v * kLanes) + sum;
    }
}

using Half = float __attribute__((vector_size(32), aligned(4), may_alias));
using Quarter = float __attribute__((vector_size(16), aligned(4), may_alias));

// The sums of four vectors.
INGOT_INLINE void add_up(const Lanes (&x)[4], float* sums) {
  Quarter q[4];
  for (int i = 0; i < 4; ++i) {
    const Half h = __builtin_shufflevector(x[i], x[i], 0, 1, 2, 3, 4, 5, 6, 7) +
                   __builtin_shufflevector(x[i], x[i], 8, 9, 10, 11, 12, 13, 14, 15);
    q[i] = __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
  }
  const Quarter a =
      __builtin_shufflevector(q[0], q[1], 0, 4, 2, 6) + __builtin_shufflevector(q[0], q[1], 1, 5, 3, 7);
  const Quarter b =
      __builtin_shufflevector(q[2], q[3], 0, 4, 2, 6) + __builtin_shufflevector(q[2], q[3], 1, 5, 3, 7);
  *reinterpret_cast<Quarter*>(sums) =
      __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

// One row of x with four rows of weights, both read along depth.
INGOT_INLINE void dot_4(const float* const (&w)[4], const float* x, int64_t depth, float* sums) {
  Lanes even[4] = {}, odd[4] = {};
  int64_t k = 0;
  for (; k + 2 * kLanes <= depth; k += 2 * kLanes)
    for (int i = 0; i < 4; ++i) {
      even[i] += lanes(x + k) * lanes(w[i] + k);
      odd[i] += lanes(x + k + kLanes) * lanes(w[i] + k + kLanes);
    }
  for (; k + kLanes <= depth; k += kLanes)
    for (int i = 0; i < 4; ++i) even[i] += lanes(x + k) * lanes(w[i] + k);
  for (int i = 0; i < 4; ++i) even[i] += odd[i];
  add_up(even, sums);
  for (; k < depth; ++k)
    for (int i = 0; i < 4; ++i) sums[i] += x[k] * w[i][k];
}

INGOT_SIMD void multiply_rows(const Weights& weights, const float* x, const float* base, float* out,
                              int64_t begin, int64_t end) {
  for (int64_t n = begin; n < end; n += 4) {
    const float* w[4];
    for (int i = 0; i < 4; ++i) w[i] = weights.data + std::min(n + i, end - 1) * weights.row_stride;
    float sums[4];
    dot_4(w, x, weights.depth, sums);
    for (int64_t i = 0; i < std::min<int64_t>(4, end - n); ++i)
      out[n + i] = sums[i] + (base ? base[n + i] : 0);
  }
}

struct PanelCall {
  const float* panel;
  int64_t depth;
  const float* x;
  int64_t x_stride;
  const float* base;
  int64_t base_stride;
  float* out;
  int64_t out_stride;
};

INGOT_SIMD void multiply_panel_rows(const PanelCall& c, int64_t count) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    multiply_panel<4, 1>(c.panel, c.depth, c.x + i * c.x_stride, c.x_stride, c.base + i * c.base_stride,
                         c.base_stride, c.out + i * c.out_stride, c.out_stride);
  for (; i < count; ++i)
    multiply_panel<1, 4>(c.panel, c.depth, c.x + i * c.x_stride, 0, c.base + i * c.base_stride, 0,
                         c.out + i * c.out_stride, 0);
}

// A panel whose columns are not all there goes through a full one, row by row.
void multiply_last_panel(PanelCall c, int64_t count, int64_t columns) {
  float base[kPanel] = {}, out[kPanel];
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(c.base + i * c.base_stride, columns, base);
    multiply_panel_rows({c.panel, c.depth, c.x + i * c.x_stride, 0, base, 0, out, 0}, 1);
    std::copy_n(out, columns, c.out + i * c.out_stride);
  }
}

constexpr float kZeros[kPanel] = {};

}  // namespace

Weights pack(const float* from, int64_t row_stride, int64_t step, int64_t rows, int64_t depth, float* to) {
  const Weights weights = {.data = to, .rows = rows, .depth = depth, .packed = true};
  for (int64_t p = 0; p < weights.panels(); ++p, to += kPanel * depth) {
    const int64_t there = std::min(kPanel, rows - p * kPanel);
    const float* panel = from + p * kPanel * row_stride;
    if (there < kPanel) std::fill_n(to, kPanel * depth, 0.0f);
    if (step == 1)
      transpose_block(reinterpret_cast<const uint32_t*>(panel), row_stride, reinterpret_cast<uint32_t*>(to),
                      kPanel, depth, there);
    else
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t n = 0; n < there; ++n) to[k * kPanel + n] = panel[n * row_stride + k * step];
  }
  return weights;
}

void multiply(const Weights& weights, Rows x, Rows base, float* out, int64_t out_stride, int64_t count,
              int64_t first_panel, int64_t last_panel) {
  const int64_t end = std::min(last_panel * kPanel, weights.rows);
  if (!weights.packed) {
    for (int64_t i = 0; i < count; ++i)
      multiply_rows(weights, x.data + i * x.stride, base.data ? base.data + i * base.stride : nullptr,
                    out + i * out_stride, first_panel * kPanel, end);
    return;
  }
  for (int64_t p = first_panel; p < last_panel; ++p) {
    const int64_t n = p * kPanel;
    const PanelCall call = {weights.data + n * weights.depth,
                            weights.depth,
                            x.data,
                            x.stride,
                            base.data ? base.data + n : kZeros,
                            base.data ? base.stride : 0,
                            out + n,
                            out_stride};
    if (end - n >= kPanel)
      multiply_panel_rows(call, count);
    else
      multiply_last_panel(call, count, end - n);
  }
}

}  // namespace ingot::cpu
