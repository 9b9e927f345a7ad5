#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "import/onnx/window.h"
#include "ir/builder_helpers.h"
#include "ir/numeric.h"

// The quantised ops that ONNX Runtime adds to the standard. Most are the plain op between dequantize and
// quantize.
namespace ingot {
namespace {

using Values = std::vector<Value>;

// Input i with its scale and zero point, which follow it, as f32.
Value real(OnnxNodeContext& c, size_t i) {
  return c.g().dequantize(c.in(i), c.in(i + 1), c.optional(i + 2), {.to = DType::f32});
}

// y with the scale and zero point at inputs i and i + 1, in the type of the zero point or of `like`.
Values quantized(OnnxNodeContext& c, Value y, size_t i, size_t like) {
  DType to = c.has(i + 1) ? c.dtype(i + 1) : c.dtype(like);
  return {c.g().quantize(y, c.in(i), c.optional(i + 1), {.to = to})};
}

void refuse_channels_last(const OnnxNodeContext& c) {
  if (c.flag_attr("channels_last", false)) c.fail_unsupported("channels at axis 1", "channels_last");
}

Values qlinear_add(OnnxNodeContext& c) { return quantized(c, c.g().add(real(c, 0), real(c, 3)), 6, 0); }
Values qlinear_mul(OnnxNodeContext& c) { return quantized(c, c.g().mul(real(c, 0), real(c, 3)), 6, 0); }
Values qlinear_sigmoid(OnnxNodeContext& c) { return quantized(c, c.g().sigmoid(real(c, 0)), 3, 0); }

Values qlinear_leaky_relu(OnnxNodeContext& c) {
  return quantized(c, c.g().leaky_relu(real(c, 0), {.alpha = c.float_attr("alpha", 0.01)}), 3, 0);
}

Values qlinear_softmax(OnnxNodeContext& c) {
  if (c.int_attr("opset", 13) < 13) c.fail_unsupported("attribute 'opset' of 13 or more", "less");
  return quantized(c, c.g().softmax(real(c, 0), {.axis = c.int_attr("axis", -1)}), 3, 0);
}

Values qlinear_where(OnnxNodeContext& c) {
  return quantized(c, c.g().select(c.in(0), real(c, 1), real(c, 4)), 7, 1);
}

// The scale and zero point of the result come first.
Values qlinear_concat(OnnxNodeContext& c) {
  if (c.input_count() < 5 || c.input_count() % 3 != 2)
    c.fail_invalid("2 inputs and 3 for each tensor", fmt::format("{}", c.input_count()));
  Values parts;
  for (size_t i = 2; i < c.input_count(); i += 3) parts.push_back(real(c, i));
  return quantized(c, c.g().concat(parts, {.axis = c.int_attr("axis")}), 0, 2);
}

Values qlinear_average_pool(OnnxNodeContext& c) {
  refuse_channels_last(c);
  return quantized(c, c.g().average_pool(real(c, 0), average_pool_attributes(c)), 3, 0);
}

Values qlinear_global_average_pool(OnnxNodeContext& c) {
  refuse_channels_last(c);
  Value x = real(c, 0);
  std::vector<int64_t> axes;
  for (int64_t i = 2; i < c.g().rank(x); ++i) axes.push_back(i);
  return quantized(c, c.g().reduce_mean(x, int_list(c.g(), axes)), 3, 0);
}

Values qlinear_reduce_mean(OnnxNodeContext& c) {
  Value axes = c.has_attr("axes") ? int_list(c.g(), c.ints_attr("axes")) : Value();
  Value mean = c.g().reduce_mean(real(c, 0), axes, {.keep_dims = c.flag_attr("keepdims", true)});
  return quantized(c, mean, 3, 0);
}

// Sums in i32 with a bias of the scale a_scale * b_scale; without a scale of the result they stay f32.
Values qgemm(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  auto oriented = [&](size_t i, std::string_view flag) {
    return c.flag_attr(flag, false) ? g.transpose(c.in(i), {.permutation = {1, 0}}) : c.in(i);
  };
  Value sums = g.matmul_integer(oriented(0, "transA"), oriented(3, "transB"), c.in(2), c.in(5));
  if (c.has(6)) sums = g.add(sums, c.in(6));
  Value scale = g.mul(g.mul(c.in(1), c.in(4)), scalar(g, DType::f32, c.float_attr("alpha", 1)));
  Value y = g.mul(g.cast(sums, {.to = DType::f32}), scale);
  return c.has(7) ? quantized(c, y, 7, 0) : Values{y};
}

Value scaled_product(OnnxNodeContext& c, const Values& ab, const Values& scales, const Values& zeros,
                     size_t bias) {
  GraphBuilder& g = c.g();
  Value sums = g.matmul_integer(ab[0], ab[1], zeros[0], zeros[1]);
  Value y = g.mul(cast_to(g, sums, g.dtype(scales[0])), g.mul(scales[0], scales[1]));
  return c.has(bias) ? g.add(y, c.in(bias)) : y;
}

Values matmul_integer_to_float(OnnxNodeContext& c) {
  return {scaled_product(c, {c.in(0), c.in(1)}, {c.in(2), c.in(3)}, {c.optional(4), c.optional(5)}, 6)};
}

Values dynamic_quantize_matmul(OnnxNodeContext& c) {
  auto [a, scale, zero_point] = c.g().dynamic_quantize(c.in(0));
  return {scaled_product(c, {a, c.in(1)}, {scale, c.in(2)}, {zero_point, c.optional(3)}, 4)};
}

// Rows of packed numbers of `bits` bits, each row padded to whole bytes, as a matrix without padding.
Tensor unpacked_rows(OnnxNodeContext& c, size_t i, DType dtype, int64_t rows, int64_t columns) {
  Tensor packed = c.constant(i, "packed weights are unpacked while importing");
  int64_t per_row = (columns * bit_width(dtype) + 7) / 8;
  if (packed.dtype() != DType::u8 || packed.count() != rows * per_row)
    c.fail_invalid(fmt::format("{} bytes for input {}", rows * per_row, i),
                   fmt::format("{}", packed.count()));
  if (columns * bit_width(dtype) % 8 == 0)
    return Tensor::share(dtype, {rows, columns}, packed.bytes(), std::make_shared<Tensor>(packed));
  int64_t padded = per_row * 8 / bit_width(dtype);
  std::vector<std::byte> all(static_cast<size_t>(rows * padded)), kept;
  unpack(dtype, packed.bytes().data(), rows * padded, all.data());
  for (int64_t r = 0; r < rows; ++r)
    kept.insert(kept.end(), all.begin() + r * padded, all.begin() + r * padded + columns);
  Tensor out = Tensor::allocate(dtype, {rows, columns});
  pack(dtype, kept.data(), rows * columns, out.mutable_bytes().data());
  return out;
}

DType unsigned_type(OnnxNodeContext& c, int64_t bits) {
  switch (bits) {
    case 2: return DType::u2;
    case 4: return DType::u4;
    case 8: return DType::u8;
    default: c.fail_unsupported("2, 4 or 8 bits", fmt::format("{}", bits));
  }
}

// One zero point per block: those given, or the middle of the range.
Value block_zero_points(OnnxNodeContext& c, DType dtype, int64_t rows, int64_t blocks) {
  if (c.has(3)) {
    if (c.dtype(3) != DType::u8) c.fail_unsupported("packed zero points", std::string(to_string(c.dtype(3))));
    return c.g().constant(unpacked_rows(c, 3, dtype, rows, blocks));
  }
  Tensor middle = Tensor::allocate(dtype, {rows, blocks});
  std::vector<uint64_t> values(static_cast<size_t>(rows * blocks), uint64_t{1} << (bit_width(dtype) - 1));
  encode_from_u64(dtype, values.data(), middle.count(), middle.mutable_bytes().data());
  return c.g().constant(std::move(middle));
}

// Weights of N rows, quantised in blocks along K.
Values matmul_nbits(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  int64_t n = c.int_attr("N"), k = c.int_attr("K"), block = c.int_attr("block_size");
  constexpr int64_t kMost = int64_t{1} << 24;
  if (n <= 0 || k <= 0 || block <= 0 || n > kMost || k > kMost || block > kMost)
    c.fail_invalid(fmt::format("N, K and block_size of 1 to {}", kMost),
                   fmt::format("{}, {}, {}", n, k, block));
  if (c.has(4)) c.fail_unsupported("weights in order", "input g_idx");
  DType dtype = unsigned_type(c, c.int_attr("bits", 4));
  int64_t blocks = (k + block - 1) / block;
  Value scales = g.reshape(c.in(2), int_list(g, {n, blocks}));
  Value weights = g.dequantize(g.constant(unpacked_rows(c, 1, dtype, n, blocks * block)), scales,
                               block_zero_points(c, dtype, n, blocks),
                               {.to = g.dtype(scales), .axis = 1, .block_size = block});
  if (blocks * block != k)
    weights = g.slice(weights, int_list(g, {0}), int_list(g, {k}), int_list(g, {1}), {});
  Value y = g.matmul(c.in(0), g.transpose(weights, {.permutation = {1, 0}}));
  return {c.has(5) ? g.add(y, c.in(5)) : y};
}

}  // namespace

void add_onnx_quantized_microsoft(OnnxOpTable& t) {
  constexpr std::string_view kPooling = "channels at axis 1 only";
  t[{"com.microsoft", "DynamicQuantizeMatMul"}] = {.import = dynamic_quantize_matmul};
  t[{"com.microsoft", "MatMulIntegerToFloat"}] = {.import = matmul_integer_to_float};
  t[{"com.microsoft", "MatMulNBits"}] = {
      .import = matmul_nbits, .limits = "constant weights of 2, 4 or 8 bits; packed zero points; no g_idx"};
  t[{"com.microsoft", "QGemm"}] = {.import = qgemm};
  t[{"com.microsoft", "QLinearAdd"}] = {.import = qlinear_add};
  t[{"com.microsoft", "QLinearAveragePool"}] = {.import = qlinear_average_pool, .limits = kPooling};
  t[{"com.microsoft", "QLinearConcat"}] = {.import = qlinear_concat};
  t[{"com.microsoft", "QLinearGlobalAveragePool"}] = {.import = qlinear_global_average_pool,
                                                      .limits = kPooling};
  t[{"com.microsoft", "QLinearLeakyRelu"}] = {.import = qlinear_leaky_relu};
  t[{"com.microsoft", "QLinearMul"}] = {.import = qlinear_mul};
  t[{"com.microsoft", "QLinearReduceMean"}] = {.import = qlinear_reduce_mean};
  t[{"com.microsoft", "QLinearSigmoid"}] = {.import = qlinear_sigmoid};
  t[{"com.microsoft", "QLinearSoftmax"}] = {.import = qlinear_softmax, .limits = "opset 13 and later"};
  t[{"com.microsoft", "QLinearWhere"}] = {.import = qlinear_where};
}

}  // namespace ingot
