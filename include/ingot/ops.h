#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/dtype.h"
#include "ingot/tensor.h"

// The op table seen from outside: one enumerator and one attribute struct per row of ops.def.
namespace ingot {

// Attribute enumerations. The spelling in text and engine files comes from enum_names(); order is not stored.
enum class AutoPad : uint8_t { none, same_upper, same_lower, valid };
enum class PadMode : uint8_t { constant, reflect, edge, wrap };
enum class Reduction : uint8_t { none, add, mul, min, max };
enum class LossReduction : uint8_t { none, sum, mean };
enum class GeluForm : uint8_t { erf, tanh };
enum class DepthMode : uint8_t { dcr, crd };
enum class ResizeMode : uint8_t { nearest, linear, cubic };
enum class ResizeCoordinates : uint8_t {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_crop_and_resize,
  tf_half_pixel_for_nn
};
enum class ResizeNearest : uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil };
enum class ResizePolicy : uint8_t { stretch, not_larger, not_smaller };
enum class GridSampleMode : uint8_t { linear, nearest, cubic };
enum class GridSamplePadding : uint8_t { zeros, border, reflection };
enum class RoiMode : uint8_t { avg, max };
enum class RoiCoordinates : uint8_t { half_pixel, output_half_pixel };
enum class Direction : uint8_t { forward, reverse, bidirectional };
enum class RoundMode : uint8_t { up, down, nearest };
enum class LinearAttentionRule : uint8_t { linear, gated, delta, gated_delta };
enum class AttentionScores : uint8_t { raw, capped, masked, weights };  // stages of the scores, in order
enum class CaseAction : uint8_t { none, lower, upper };
enum class TfIdfMode : uint8_t { tf, idf, tfidf };

template <class E>
std::span<const std::string_view> enum_names();  // defined for each enumeration above

enum class Op : uint16_t {
#define OP(Name, text, operands, outputs, attributes, rule, traits) Name,
#define OP_CONTROL OP
#include "ingot/ops.def"
};

#define INT(name, value) int64_t name = value;
#define REAL(name, value) double name = value;
#define FLAG(name, value) bool name = value;
#define TEXT(name) std::string name = {};
#define DTYPE(name, value) DType name = DType::value;
#define INTS(name) std::vector<int64_t> name = {};
#define REALS(name) std::vector<double> name = {};
#define TEXTS(name) std::vector<std::string> name = {};
#define ENUM(type, name, value) type name = type::value;
#define DATA(name) Tensor name;
#define OP(Name, text, operands, outputs, attributes, rule, traits) \
  struct Name##Attrs {                                              \
    static constexpr Op kOp = Op::Name;                             \
    attributes                                                      \
  };
#define OP_CONTROL OP
#include "ingot/ops.def"
#undef INT
#undef REAL
#undef FLAG
#undef TEXT
#undef DTYPE
#undef INTS
#undef REALS
#undef TEXTS
#undef ENUM
#undef DATA

}  // namespace ingot
