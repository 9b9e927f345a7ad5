#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"

namespace ingot {
namespace {

Value as_i64(OnnxNodeContext& c, size_t i) {
  Value v = c.optional(i);
  return v.is_none() || c.g().dtype(v) == DType::i64 ? v : c.g().cast(v, {.to = DType::i64});
}

std::vector<Value> dft(OnnxNodeContext& c) {
  DftAttrs attrs{.axis = c.opset() < 20 ? c.int_attr("axis", 1) : -2,
                 .inverse = c.flag_attr("inverse", false),
                 .one_sided = c.flag_attr("onesided", false)};
  Value computed = c.opset() < 20 ? Value() : as_i64(c, 2);
  if (auto known = c.known_ints(2); !computed.is_none() && known && known->size() == 1) {
    attrs.axis = known->front();
    computed = {};
  }
  return {c.g().dft(c.in(0), as_i64(c, 1), computed, attrs)};
}

std::vector<Value> stft(OnnxNodeContext& c) {
  return {c.g().stft(c.in(0), as_i64(c, 1), c.optional(2), as_i64(c, 3),
                     {.one_sided = c.flag_attr("onesided", true)})};
}

std::vector<Value> mel_weight_matrix(OnnxNodeContext& c) {
  return {c.g().mel_weight_matrix(as_i64(c, 0), as_i64(c, 1), as_i64(c, 2), c.in(3), c.in(4),
                                  {.to = c.dtype_attr("output_datatype", DType::f32)})};
}

}  // namespace

void add_onnx_signal(OnnxOpTable& t) {
  t[{"", "DFT"}] = {.import = dft, .first_opset = 17};
  t[{"", "STFT"}] = {.import = stft, .first_opset = 17};
  t[{"", "MelWeightMatrix"}] = {.import = mel_weight_matrix, .first_opset = 17};
}

}  // namespace ingot
