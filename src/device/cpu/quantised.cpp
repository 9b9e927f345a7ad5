#include "device/cpu/quantised.h"

#include <algorithm>

#include "device/cpu/block_weights.h"
#include "device/cpu/derived_weights.h"
#include "device/cpu/groups.h"
#include "device/cpu/nest_types.h"
#include "device/cpu/static_graph.h"
#include "device/cpu/view.h"
#include "ir/numeric.h"
#include "ir/window.h"

namespace ingot::cpu {
namespace {

bool is_byte(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }

bool known_shape(const Type& type) { return is_static(type) && type.dims->size() <= kMaxRank; }

// One element, or one for each slice of x along `axis`.
bool is_scale_of(const Type& type, const Type& x, int64_t axis) {
  const Shape shape = static_shape(type);
  if (element_count(shape) == 1) return true;
  const auto rank = static_cast<int64_t>(x.dims->size());
  if (axis < 0) axis += rank;
  return shape.size() == 1 && axis < rank && shape[0] == static_shape(x)[static_cast<size_t>(axis)];
}

bool has_plain_scale(const Graph& graph, const Node& node, int64_t axis, int64_t block) {
  if (block != 0) return false;
  const Type& x = graph.type(node.operands[0]);
  for (size_t i = 1; i < node.operands.size(); ++i) {
    if (node.operands[i].is_none()) continue;
    const Type& type = graph.type(node.operands[i]);
    if (!known_shape(type) || !compute_type(type.dtype) || !is_scale_of(type, x, axis)) return false;
  }
  return graph.type(node.operands[1]).dtype == DType::f32;
}

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> out(static_cast<size_t>(tensor.count()));
  decode_to_f64(tensor.dtype(), tensor.bytes().data(), tensor.count(), out.data());
  return out;
}

std::optional<Quantised> dequantised(const Graph& graph, Value v) {
  const Node& node = graph.node(v);
  if (node.op != Op::Dequantize || !is_fusable_quantisation(graph, node)) return std::nullopt;
  if (!is_byte(graph.type(node.operands[0]).dtype) || node.types[0].dtype != DType::f32) return std::nullopt;
  const Tensor* scale = constant_of(graph, node.operands[1]);
  const std::optional<int64_t> zero = constant_zero(graph, node, 2);
  if (!scale || !zero) return std::nullopt;
  return Quantised{node.operands[0], *scale, *zero};
}

// In the form that packing takes: signed around 0, unsigned around 128.
bool is_centred(const Graph& graph, const Quantised& b) {
  return b.zero == (graph.type(b.integers).dtype == DType::u8 ? 128 : 0);
}

int64_t channel_axis(const Graph& graph, const Node& node) {
  const auto rank = static_cast<int64_t>(graph.type(node.operands[1]).dims->size());
  return node.op == Op::Conv ? 0 : rank - 1;
}

bool scales_channels(const Graph& graph, const Node& node, const Quantised& b) {
  if (b.scale.count() == 1) return true;
  int64_t axis = graph.node(node.operands[1]).as<DequantizeAttrs>().axis;
  if (axis < 0) axis += static_cast<int64_t>(graph.type(node.operands[1]).dims->size());
  return axis == channel_axis(graph, node);
}

// Groups of few channels gain nothing from integers.
bool is_integer_form(const Graph& graph, const Node& node) {
  if (node.op == Op::MatMul) return graph.type(node.operands[1]).dims->size() == 2;
  return node.op == Op::Conv && node.as<ConvAttrs>().group == 1;
}

}  // namespace

std::optional<int64_t> constant_zero(const Graph& graph, const Node& node, size_t operand) {
  if (operand >= node.operands.size() || node.operands[operand].is_none()) return 0;
  const Tensor* tensor = constant_of(graph, node.operands[operand]);
  if (!tensor) return std::nullopt;
  const std::vector<double> all = numbers(*tensor);
  if (std::ranges::any_of(all, [&](double z) { return z != all[0]; })) return std::nullopt;
  return static_cast<int64_t>(all[0]);
}

bool is_fusable_quantisation(const Graph& graph, const Node& node) {
  if (node.op != Op::Quantize && node.op != Op::Dequantize) return false;
  const Type& x = graph.type(node.operands[0]);
  if (!known_shape(x) || !compute_type(x.dtype) || !compute_type(node.types[0].dtype)) return false;
  if (node.op == Op::Quantize) {
    const auto& a = node.as<QuantizeAttrs>();
    const bool byte_sized = is_integer(a.to) && bit_width(a.to) <= 16;
    return byte_sized && a.precision == DType::f32 && x.dtype == DType::f32 &&
           has_plain_scale(graph, node, a.axis, a.block_size);
  }
  const auto& a = node.as<DequantizeAttrs>();
  // Integers beyond 2^24 are no f32.
  return is_integer(x.dtype) && bit_width(x.dtype) <= 16 && a.to == DType::f32 &&
         has_plain_scale(graph, node, a.axis, a.block_size);
}

std::optional<QuantisedContraction> find_quantised(const Graph& graph, const Node& node) {
  if (!is_integer_form(graph, node)) return std::nullopt;
  std::optional<Quantised> a = dequantised(graph, node.operands[0]);
  std::optional<Quantised> b = dequantised(graph, node.operands[1]);
  if (!a || !b || a->scale.count() != 1 || !constant_of(graph, b->integers)) return std::nullopt;
  if (node.op == Op::MatMul && !has_walkable_batch(graph, node)) return std::nullopt;
  if (!is_centred(graph, *b) || !scales_channels(graph, node, *b)) return std::nullopt;
  if (node.operands.size() > 2 && !node.operands[2].is_none() && !constant_of(graph, node.operands[2]))
    return std::nullopt;
  return QuantisedContraction{std::move(*a), std::move(*b)};
}

bool is_tile_matmul_integer(const Graph& graph, const Node& node) {
  if (node.op != Op::MatMulInteger || !constant_of(graph, node.operands[1])) return false;
  const Type& a = graph.type(node.operands[0]);
  const Type& b = graph.type(node.operands[1]);
  if (a.dtype != DType::u8 || !known_shape(a) || a.dims->size() < 2 || b.dims->size() != 2) return false;
  if (element_count(static_shape(a)) == 0 || element_count(static_shape(b)) == 0) return false;
  const bool one_zero = node.operands.size() < 3 || node.operands[2].is_none() ||
                        element_count(static_shape(graph.type(node.operands[2]))) == 1;
  const std::optional<int64_t> zero = constant_zero(graph, node, 3);
  return one_zero && zero && *zero == (b.dtype == DType::u8 ? 128 : 0);
}

const Node* dequantize_before_pool(const Graph& graph, const Node& node) {
  if (node.op != Op::MaxPool || !is_tile_anchor(graph, node)) return nullptr;
  const std::optional<Quantised> x = dequantised(graph, node.operands[0]);
  if (!x || x->scale.count() != 1 || !(numbers(x->scale)[0] > 0)) return nullptr;
  const auto& attrs = node.as<MaxPoolAttrs>();
  const Shape in = static_shape(graph.type(x->integers)), out = static_shape(node.types[0]);
  const WindowAttrs windows = window_attrs(attrs);
  for (size_t i = 0; i + 2 < in.size(); ++i) {
    const WindowAxis axis =
        resolve_padding(windows, window_axis(windows, i, in.size() - 2), in[2 + i], attrs.kernel[i]);
    const int64_t last = (out[2 + i] - 1) * axis.stride - axis.pad_begin;
    if (axis.dilation != 1 || axis.pad_begin >= attrs.kernel[i] || last >= in[2 + i]) return nullptr;
  }
  return &graph.node(node.operands[0]);
}

std::vector<Value> operands_read(const Graph& graph, const Node& node) {
  std::vector<Value> operands = node.operands;
  if (const Node* dequantize = dequantize_before_pool(graph, node)) operands[0] = dequantize->operands[0];
  if (node.op != Op::Conv && node.op != Op::MatMul) return operands;
  if (std::optional<QuantisedContraction> quantised = find_quantised(graph, node)) {
    operands[0] = quantised->a.integers;
    operands[1] = quantised->b.integers;
  } else if (find_block_quantised(graph, node)) {
    operands.resize(1);  // all about the weights is constant
  } else if (has_derived_weights(graph, node)) {
    operands.resize(1);
  }
  return operands;
}

std::vector<double> channel_values(const Tensor& tensor, int64_t count) {
  std::vector<double> values = numbers(tensor);
  if (values.size() == 1) values.resize(static_cast<size_t>(count), values[0]);
  return values;
}

}  // namespace ingot::cpu
