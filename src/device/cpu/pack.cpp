#include "device/cpu/pack.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "device/cpu/routines/transpose.h"
#include "ingot/error.h"
#include "ir/small_float.h"

namespace ingot::cpu {
namespace {

// Codes of the small formats, told apart by type.
struct Half {
  uint16_t code;
};
struct Brain {
  uint16_t code;
};
struct Biased {  // u8 as i8, 128 lower
  uint8_t code;
};

float widen(float value) { return value; }
float widen(double value) { return static_cast<float>(value); }
float widen(Half value) { return static_cast<float>(small_float::kF16.decode(value.code)); }
float widen(Brain value) { return std::bit_cast<float>(static_cast<uint32_t>(value.code) << 16); }

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) return value;
  if constexpr (std::is_same_v<To, float>) return widen(value);
  if constexpr (std::is_same_v<To, Half>)
    return {static_cast<uint16_t>(small_float::kF16.encode(widen(value), false))};
  if constexpr (std::is_same_v<To, Brain>)
    return {static_cast<uint16_t>(small_float::kBf16.encode(widen(value), false))};
  if constexpr (std::is_same_v<From, Biased>) return static_cast<int8_t>(value.code - 128);
}

// The elements of one panel at one tap. The innermost loop runs along the axis that is dense in the source.
template <class From, class To>
class PanelPacker {
 public:
  PanelPacker(const PackSource& source, const PackLayout& layout)
      : source_(source), layout_(layout), group_(sizeof(To) == 1 && layout.depth % 4 == 0 ? 4 : 1) {
    const auto& [outer, inner] = source.depth;
    if (outer.extent == 1 || outer.stride == inner.stride * inner.extent)
      whole_ = {outer.extent * inner.extent, inner.stride};
  }

  void tap(const std::byte* data, int64_t columns, To* out) const {
    const auto* from = reinterpret_cast<const From*>(data);
    const int64_t k_count = source_.depth[0].extent * source_.depth[1].extent;
    if (columns < layout_.panel_columns || k_count < layout_.depth)
      std::fill_n(out, layout_.depth * layout_.panel_columns, To{});
    if constexpr (std::is_same_v<From, float> && std::is_same_v<To, float>) {
      if (whole_.extent != 0 && whole_.stride == 1 && source_.columns.stride != 1) {
        transpose_block(reinterpret_cast<const uint32_t*>(data), source_.columns.stride,
                        reinterpret_cast<uint32_t*>(out), layout_.panel_columns, k_count, columns);
        return;
      }
    }
    constexpr int64_t kTogether = 16;
    for (int64_t k = 0; k < k_count; k += kTogether)
      piece(from, k, std::min(k + kTogether, k_count), columns, out);
  }

 private:
  void piece(const From* from, int64_t begin, int64_t end, int64_t columns, To* out) const {
    const int64_t step = source_.columns.stride;
    if (step == 1) {
      for (int64_t k = begin; k < end; ++k)
        for (int64_t c = 0; c < columns; ++c) out[place(k, c)] = convert<To>(from[offset(k) + c]);
    } else {
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t k = begin; k < end; ++k) out[place(k, c)] = convert<To>(from[offset(k) + c * step]);
    }
  }

  int64_t offset(int64_t k) const {
    if (whole_.extent != 0) return k * whole_.stride;
    const auto& [outer, inner] = source_.depth;
    return k / inner.extent * outer.stride + k % inner.extent * inner.stride;
  }
  int64_t place(int64_t k, int64_t column) const {
    if (group_ == 1) return k * layout_.panel_columns + column;
    return (k / 4 * layout_.panel_columns + column) * 4 + k % 4;
  }

  const PackSource& source_;
  const PackLayout& layout_;
  int64_t group_;
  PackSource::Axis whole_{.extent = 0};  // both axes of the depth as one, where that can be
};

template <class From, class To>
void pack(const PackSource& source, const PackLayout& layout, int64_t begin, int64_t end, std::byte* out) {
  const PanelPacker<From, To> packer(source, layout);
  const auto& [d, h, w] = source.taps;
  auto* to = reinterpret_cast<To*>(out + begin * layout.panel_bytes());
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t column = panel * layout.panel_columns;
    const int64_t columns = std::min(layout.panel_columns, layout.columns - column);
    for (int64_t tap = 0; tap < layout.taps; ++tap, to += layout.depth * layout.panel_columns) {
      const int64_t at = tap / (h.extent * w.extent) * d.stride + tap / w.extent % h.extent * h.stride +
                         tap % w.extent * w.stride + column * source.columns.stride;
      packer.tap(source.data + at * static_cast<int64_t>(sizeof(From)), columns, to);
    }
  }
}

using Pack = void (*)(const PackSource&, const PackLayout&, int64_t, int64_t, std::byte*);

template <class To>
Pack floating_pack(DType from) {
  switch (from) {
    case DType::f64: return pack<double, To>;
    case DType::f32: return pack<float, To>;
    case DType::f16: return pack<Half, To>;
    case DType::bf16: return pack<Brain, To>;
    default: return nullptr;
  }
}

Pack pack_of(DType from, DType to) {
  switch (to) {
    case DType::f32: return floating_pack<float>(from);
    case DType::f16: return floating_pack<Half>(from);
    case DType::bf16: return floating_pack<Brain>(from);
    case DType::i8:
      if (from == DType::i8) return pack<int8_t, int8_t>;
      return from == DType::u8 ? pack<Biased, int8_t> : nullptr;
    default: return nullptr;
  }
}

}  // namespace

int64_t PackLayout::panel_bytes() const { return taps * depth * panel_columns * bit_width(dtype) / 8; }

PackLayout pack_layout(const TileTypes& types, const TileChoice& choice, const PackSource& source) {
  PackLayout layout{.dtype = types.b, .columns = source.columns.extent, .panel_columns = choice.columns()};
  for (const auto& axis : source.taps) layout.taps *= axis.extent;
  for (const auto& axis : source.depth) layout.depth *= axis.extent;
  if (types.kind == kernel::TileKind::dot && is_integer(types.a)) layout.depth = (layout.depth + 3) / 4 * 4;
  return layout;
}

void pack_panels(const PackSource& source, const PackLayout& layout, int64_t begin, int64_t end,
                 std::byte* out) {
  const Pack pack = pack_of(source.dtype, layout.dtype);
  if (pack == nullptr)
    throw Error(
        {.code = ErrorCode::internal,
         .object = "packed weights",
         .expected = "a floating type, or i8 from i8 or u8",
         .observed = std::string(to_string(layout.dtype)) + " from " + std::string(to_string(source.dtype))});
  pack(source, layout, begin, end, out);
}

}  // namespace ingot::cpu
