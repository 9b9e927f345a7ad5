#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "import/onnx/window.h"
#include "ir/builder_helpers.h"

namespace ingot {
namespace {

using Values = std::vector<Value>;

bool has_one_element(const Type& type) {
  if (!type.is_ranked()) return false;
  return std::ranges::all_of(*type.dims, [](const Dim& d) { return d == Dim(1); });
}

// One number per row of a matrix, given as a vector, becomes a column.
Value per_row(OnnxNodeContext& c, size_t i) {
  Value v = c.optional(i);
  if (v.is_none()) return v;
  const Type& type = c.g().type(v);
  bool column = type.is_ranked() && type.dims->size() == 1 && !has_one_element(type);
  return column ? c.g().unsqueeze(v, int_list(c.g(), {1})) : v;
}

// The type in which x / scale is rounded: what the node says, else the type of the scale where that can hold
// quotients.
DType precision(OnnxNodeContext& c) {
  if (c.int_attr("precision", 0) != 0) return c.dtype_attr("precision");
  for (DType d : {c.dtype(1), c.dtype(0)})
    if (d == DType::f16 || d == DType::bf16 || d == DType::f64)
      return d;
    else if (d == DType::f32)
      break;
  return DType::f32;
}

Values quantize(OnnxNodeContext& c) {
  Value zero_point = c.optional(2);
  DType to = c.has(2) ? c.dtype(2) : DType::u8;
  if (c.int_attr("output_dtype", 0) != 0) to = c.dtype_attr("output_dtype");
  return {c.g().quantize(c.in(0), c.in(1), zero_point,
                         {.to = to,
                          .axis = c.int_attr("axis", 1),
                          .block_size = c.int_attr("block_size", 0),
                          .saturate = c.flag_attr("saturate", true),
                          .precision = precision(c)})};
}

Values dequantize(OnnxNodeContext& c) {
  DType to = c.dtype(1);
  if (c.int_attr("output_dtype", 0) != 0) to = c.dtype_attr("output_dtype");
  return {
      c.g().dequantize(c.in(0), c.in(1), c.optional(2),
                       {.to = to, .axis = c.int_attr("axis", 1), .block_size = c.int_attr("block_size", 0)})};
}

Values dynamic_quantize(OnnxNodeContext& c) {
  auto results = c.g().dynamic_quantize(c.in(0));
  return {results.begin(), results.end()};
}

// A vector with one number per output channel, shaped to stretch over the weights or, with one axis dropped,
// over the results.
Value per_channel(OnnxNodeContext& c, size_t i, size_t weights, int64_t dropped_axes) {
  GraphBuilder& g = c.g();
  Value v = c.optional(i);
  if (v.is_none() || (g.is_ranked(v) && g.rank(v) == 0) || has_one_element(g.type(v))) return v;
  std::vector<int64_t> shape(static_cast<size_t>(g.rank(c.in(weights)) - dropped_axes), 1);
  shape[0] = -1;
  return g.reshape(v, int_list(g, shape));
}

// x - zero point in i32, the type in which the sums are formed.
Value centred(GraphBuilder& g, Value x, Value zero_point) {
  Value wide = g.cast(x, {.to = DType::i32});
  return zero_point.is_none() ? wide : g.sub(wide, g.cast(zero_point, {.to = DType::i32}));
}

Values conv_integer(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = centred(g, c.in(0), c.optional(2)), w = centred(g, c.in(1), per_channel(c, 3, 1, 0));
  return {g.conv(x, w, Value(), conv_attributes(c))};
}

Values matmul_integer(OnnxNodeContext& c) {
  return {c.g().matmul_integer(c.in(0), c.in(1), per_row(c, 2), c.optional(3))};
}

// Integer sums times input scales / output scale, as f32, rounded into the output type.
Value requantize(GraphBuilder& g, Value sums, Value input_scales, Value scale, Value zero_point) {
  Value factor = g.div(input_scales, cast_to(g, scale, DType::f32));
  Value scaled = g.mul(g.cast(sums, {.to = DType::f32}), factor);
  return g.quantize(scaled, scalar(g, DType::f32, 1), zero_point, {.to = g.dtype(zero_point)});
}

// a, its scale and zero point, b, its scale and zero point, scale and zero point of the result.
Values qlinear_matmul(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value sums = g.matmul_integer(c.in(0), c.in(3), per_row(c, 2), c.in(5));
  Value scales = g.mul(cast_to(g, per_row(c, 1), DType::f32), cast_to(g, c.in(4), DType::f32));
  return {requantize(g, sums, scales, c.in(6), c.in(7))};
}

// x, its scale and zero point, weights, theirs, scale and zero point of the result, bias.
Values qlinear_conv(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = centred(g, c.in(0), c.in(2)), w = centred(g, c.in(3), per_channel(c, 5, 3, 0));
  Value sums = g.conv(x, w, c.optional(8), conv_attributes(c));
  Value scales = g.mul(cast_to(g, c.in(1), DType::f32), cast_to(g, per_channel(c, 4, 3, 1), DType::f32));
  return {requantize(g, sums, scales, c.in(6), c.in(7))};
}

}  // namespace

void add_onnx_quantization(OnnxOpTable& t) {
  t[{"", "ConvInteger"}] = {.import = conv_integer, .first_opset = 10};
  t[{"", "DequantizeLinear"}] = {.import = dequantize, .first_opset = 10};
  t[{"", "DynamicQuantizeLinear"}] = {.import = dynamic_quantize, .first_opset = 11};
  t[{"", "MatMulInteger"}] = {.import = matmul_integer, .first_opset = 10};
  t[{"", "QLinearConv"}] = {.import = qlinear_conv, .first_opset = 10};
  t[{"", "QLinearMatMul"}] = {.import = qlinear_matmul, .first_opset = 10};
  t[{"", "QuantizeLinear"}] = {.import = quantize, .first_opset = 10};
  t[{"com.microsoft", "DequantizeLinear"}] = {.import = dequantize};
  t[{"com.microsoft", "QuantizeLinear"}] = {.import = quantize};
}

}  // namespace ingot
