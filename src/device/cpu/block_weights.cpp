#include "device/cpu/block_weights.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "device/cpu/groups.h"
#include "device/cpu/static_graph.h"

namespace ingot::cpu {
namespace {

bool is_signed(DType dtype) { return dtype == DType::i4 || dtype == DType::i8; }

bool is_block_type(DType dtype) { return dtype == DType::u4 || dtype == DType::u8 || is_signed(dtype); }

// Element i counted from the least value of the type.
uint32_t unsigned_element(const Tensor& tensor, int64_t i) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.bytes().data());
  const uint32_t middle = is_signed(tensor.dtype()) ? 1u << (bit_width(tensor.dtype()) - 1) : 0;
  if (bit_width(tensor.dtype()) == 8) return bytes[i] ^ middle;
  return (bytes[i / 2] >> (i % 2 * 4) & 15u) ^ middle;
}

// Without loss, and none that arithmetic may take for zero.
bool is_normal_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t exponent = bits >> 23 & 255;
  return value == 0 || ((bits & 0x1fff) == 0 && exponent >= 113 && exponent <= 142);
}

uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffff;
  return static_cast<uint16_t>((bits >> 16 & 0x8000) |
                               (magnitude == 0 ? 0 : (magnitude >> 13) - (112u << 10)));
}

// Packs one panel.
class PanelPacker {
 public:
  PanelPacker(const BlockQuantised& weights, const BlockLayout& layout, int64_t panel)
      : weights_(weights), layout_(layout), first_(panel * BlockLayout::kPanel) {
    there_ = std::min(BlockLayout::kPanel, layout.columns - first_);
  }

  void run(std::byte* to) const {
    for (int64_t b = 0; b < layout_.blocks(); ++b, to += layout_.block_bytes()) {
      std::byte* at = pack_scales(b, to);
      if (layout_.has_zeros) at = pack_zeros(b, at);
      pack_words(b, at);
    }
  }

 private:
  int64_t scale_at(int64_t column, int64_t block) const {
    return weights_.depth_is_last ? column * layout_.blocks() + block : block * layout_.columns + column;
  }
  int64_t integer_at(int64_t column, int64_t k) const {
    return weights_.depth_is_last ? column * layout_.depth + k : k * layout_.columns + column;
  }

  std::byte* pack_scales(int64_t block, std::byte* to) const {
    std::memset(to, 0, static_cast<size_t>(layout_.scale_bytes()));
    for (int64_t c = 0; c < there_; ++c) {
      const float scale = weights_.scales.data<float>()[static_cast<size_t>(scale_at(first_ + c, block))];
      if (layout_.half_scales)
        reinterpret_cast<uint16_t*>(to)[c] = half_bits(scale);
      else
        reinterpret_cast<float*>(to)[c] = scale;
    }
    return to + layout_.scale_bytes();
  }

  std::byte* pack_zeros(int64_t block, std::byte* to) const {
    auto* zeros = reinterpret_cast<float*>(to);
    for (int64_t c = 0; c < BlockLayout::kPanel; ++c)
      zeros[c] =
          c < there_ ? static_cast<float>(unsigned_element(*weights_.zeros, scale_at(first_ + c, block))) : 0;
    return to + BlockLayout::kPanel * 4;
  }

  void pack_words(int64_t block, std::byte* to) const {
    auto* words = reinterpret_cast<uint32_t*>(to);
    const int per_word = 32 / layout_.bits;
    for (int64_t k = 0; k < layout_.block; k += per_word, words += BlockLayout::kPanel)
      for (int64_t c = 0; c < BlockLayout::kPanel; ++c) {
        words[c] = 0;
        for (int i = 0; i < per_word && c < there_; ++i)
          words[c] |=
              unsigned_element(weights_.integers, integer_at(first_ + c, block * layout_.block + k + i))
              << (i * layout_.bits);
      }
  }

  const BlockQuantised& weights_;
  const BlockLayout& layout_;
  int64_t first_;
  int64_t there_ = 0;
};

const Tensor* constant_matrix(const Graph& graph, Value v) {
  const Tensor* tensor = constant_of(graph, v);
  return tensor && tensor->rank() == 2 ? tensor : nullptr;
}

// The dequantize behind the second operand, and whether it is transposed on the way.
const Node* dequantised_matrix(const Graph& graph, Value v, bool& transposed) {
  const Node* node = &graph.node(v);
  transposed =
      node->op == Op::Transpose && node->as<TransposeAttrs>().permutation == std::vector<int64_t>{1, 0};
  if (transposed) node = &graph.node(node->operands[0]);
  return node->op == Op::Dequantize ? node : nullptr;
}

bool takes_rows(const Graph& graph, Value v) {
  const Type& type = graph.type(v);
  return type.dtype == DType::f32 && is_static(type) && type.dims->size() >= 2;
}

}  // namespace

std::optional<BlockQuantised> find_block_quantised(const Graph& graph, const Node& node) {
  if (node.op != Op::MatMul || !takes_rows(graph, node.operands[0])) return std::nullopt;
  BlockQuantised out;
  const Node* real = dequantised_matrix(graph, node.operands[1], out.depth_is_last);
  if (!real) return std::nullopt;
  const auto& attrs = real->as<DequantizeAttrs>();
  const Tensor* integers = constant_matrix(graph, real->operands[0]);
  const Tensor* scales = constant_matrix(graph, real->operands[1]);
  const bool has_zeros = real->operands.size() > 2 && !real->operands[2].is_none();
  const Tensor* zeros = has_zeros ? constant_matrix(graph, real->operands[2]) : nullptr;
  if (!integers || !scales || (has_zeros && !zeros)) return std::nullopt;
  if (attrs.to != DType::f32 || scales->dtype() != DType::f32 || !is_block_type(integers->dtype()))
    return std::nullopt;
  const int64_t depth_axis = out.depth_is_last ? 1 : 0;
  const int64_t per_word = 32 / bit_width(integers->dtype());
  out.block = attrs.block_size;
  out.depth = integers->shape()[static_cast<size_t>(depth_axis)];
  out.columns = integers->shape()[static_cast<size_t>(1 - depth_axis)];
  if ((attrs.axis < 0 ? attrs.axis + 2 : attrs.axis) != depth_axis || out.block <= 0 || out.columns == 0)
    return std::nullopt;
  if (out.block % per_word != 0 || out.depth % out.block != 0 || out.depth == 0) return std::nullopt;
  out.integers = integers->aligned();
  out.scales = scales->aligned();
  if (zeros) out.zeros = zeros->aligned();
  out.value = real->operands[0];
  return out;
}

BlockLayout block_layout(const BlockQuantised& weights) {
  const DType dtype = weights.integers.dtype();
  BlockLayout layout{.columns = weights.columns,
                     .depth = weights.depth,
                     .block = weights.block,
                     .bits = static_cast<int>(bit_width(dtype)),
                     .half_scales = std::ranges::all_of(weights.scales.data<float>(), is_normal_half),
                     .zero = is_signed(dtype) ? static_cast<float>(1u << (bit_width(dtype) - 1)) : 0.0f};
  if (!weights.zeros) return layout;
  const Tensor& zeros = *weights.zeros;
  const uint32_t first = unsigned_element(zeros, 0);
  for (int64_t i = 1; i < zeros.count(); ++i) layout.has_zeros |= unsigned_element(zeros, i) != first;
  layout.zero = layout.has_zeros ? 0 : static_cast<float>(first);
  return layout;
}

void pack_block_panels(const BlockQuantised& weights, const BlockLayout& layout, int64_t begin, int64_t end,
                       std::byte* to) {
  for (int64_t panel = begin; panel < end; ++panel)
    PanelPacker(weights, layout, panel).run(to + panel * layout.panel_bytes());
}

}  // namespace ingot::cpu
