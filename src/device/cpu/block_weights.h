#pragma once

#include <optional>

#include "ingot/graph.h"

// Matrices of 4-bit or 8-bit integers with one scale, and perhaps one zero point, for each block of depth, as
// large language models have them. They stay integers in memory and become floats in registers.
namespace ingot::cpu {

// out = x * b, where b[k][n] = (integers - zeros) * scales.
struct BlockQuantised {
  Tensor integers;              // u4, i4, u8, i8; [columns, depth], or [depth, columns]
  Tensor scales;                // f32, a block of depth shrunk to one
  std::optional<Tensor> zeros;  // of the type of `integers`, shaped as the scales
  int64_t columns = 0;
  int64_t depth = 0;
  int64_t block = 0;           // values of depth that share a scale
  bool depth_is_last = false;  // the first of the two layouts
  Value value;                 // the node of `integers`
};
// For a matmul whose second operand is dequantised by blocks from constants; nothing where kernels lack its
// form.
std::optional<BlockQuantised> find_block_quantised(const Graph& graph, const Node& node);

// How such a matrix is packed: panels of kPanel columns, each a sequence of blocks. A block is the scales of
// the columns, their zero points where they differ, then words of 32 bits, side by side for the columns,
// which hold the next values of depth from the lowest bits on; integers are unsigned.
struct BlockLayout {
  static constexpr int64_t kPanel = 64;

  int64_t columns = 0;
  int64_t depth = 0;
  int64_t block = 0;
  int bits = 4;
  bool half_scales = false;  // as f16, where that loses nothing
  bool has_zeros = false;    // f32 each; otherwise all are `zero`
  float zero = 0;

  int64_t panels() const { return (columns + kPanel - 1) / kPanel; }
  int64_t blocks() const { return depth / block; }
  int64_t scale_bytes() const { return kPanel * (half_scales ? 2 : 4); }
  int64_t block_bytes() const {
    return scale_bytes() + (has_zeros ? kPanel * 4 : 0) + kPanel * block * bits / 8;
  }
  int64_t panel_bytes() const { return blocks() * block_bytes(); }
};
BlockLayout block_layout(const BlockQuantised& weights);

// Columns behind the last one become zero. `to` is that of panel 0.
void pack_block_panels(const BlockQuantised& weights, const BlockLayout& layout, int64_t begin, int64_t end,
                       std::byte* to);

}  // namespace ingot::cpu
