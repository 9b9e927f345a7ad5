#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"

namespace ingot {
namespace {

// Up to opset 5 the type is spelled out.
DType target_type(OnnxNodeContext& c) {
  if (c.opset() >= 6) return c.dtype_attr("to");
  return c.enum_attr<DType>("to", "",
                            {{"FLOAT", DType::f32},
                             {"FLOAT16", DType::f16},
                             {"DOUBLE", DType::f64},
                             {"INT8", DType::i8},
                             {"INT16", DType::i16},
                             {"INT32", DType::i32},
                             {"INT64", DType::i64},
                             {"UINT8", DType::u8},
                             {"UINT16", DType::u16},
                             {"UINT32", DType::u32},
                             {"UINT64", DType::u64},
                             {"BOOL", DType::boolean}});
}

std::vector<Value> cast_to(OnnxNodeContext& c, DType to) {
  RoundMode round = c.enum_attr<RoundMode>(
      "round_mode", "up",
      {{"up", RoundMode::up}, {"down", RoundMode::down}, {"nearest", RoundMode::nearest}});
  return {c.g().cast(c.in(0), {.to = to, .saturate = c.flag_attr("saturate", true), .round_mode = round})};
}

std::vector<Value> cast(OnnxNodeContext& c) { return cast_to(c, target_type(c)); }
std::vector<Value> cast_like(OnnxNodeContext& c) { return cast_to(c, c.dtype(1)); }
std::vector<Value> bit_cast(OnnxNodeContext& c) {
  return {c.g().bit_cast(c.in(0), {.to = c.dtype_attr("to")})};
}

}  // namespace

void add_onnx_cast(OnnxOpTable& t) {
  t[{"", "BitCast"}] = {.import = bit_cast, .first_opset = 26};
  t[{"", "Cast"}] = {.import = cast};
  t[{"", "CastLike"}] = {.import = cast_like, .first_opset = 15};
}

}  // namespace ingot
