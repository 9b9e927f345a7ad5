#pragma once

#include <optional>

#include "ingot/graph.h"

namespace ingot::cpu {

// Whether kernels can compute a quantize or dequantize node point by point: one scale per tensor or per
// slice.
bool is_fusable_quantisation(const Graph& graph, const Node& node);

// Its zero point, one for all: 0 where there is none; nothing where it is not constant or differs.
std::optional<int64_t> constant_zero(const Graph& graph, const Node& node, size_t operand);

// A value in 8-bit integers: real = (integers - zero) * scale.
struct Quantised {
  Value integers;
  Tensor scale;  // constant f32, of one element or one per output channel
  int64_t zero = 0;
};

// A convolution or matrix product whose operands are dequantised, to be computed in integers.
struct QuantisedContraction {
  Quantised a;  // one scale
  Quantised b;  // constant integers i8 without zero point, or u8 around 128
};
std::optional<QuantisedContraction> find_quantised(const Graph& graph, const Node& node);

// A matmul_integer that tiles can compute: b constant, one zero point each, that of b in the middle.
bool is_tile_matmul_integer(const Graph& graph, const Node& node);

// The dequantize node before a max_pool that may as well choose among the integers: of one positive scale,
// and each window holds one of them.
const Node* dequantize_before_pool(const Graph& graph, const Node& node);

// What the node reads when its operands are read in integers: its operands otherwise.
std::vector<Value> operands_read(const Graph& graph, const Node& node);

// The constants of a per-channel vector or scalar, `count` of them.
std::vector<double> channel_values(const Tensor& tensor, int64_t count);

}  // namespace ingot::cpu
