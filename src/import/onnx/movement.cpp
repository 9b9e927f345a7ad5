#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"

namespace ingot {
namespace {

std::vector<Value> constant(OnnxNodeContext& c) {
  if (auto value = c.tensor_attr("value")) return {c.g().constant(*value)};
  auto of = [&](auto element, Shape shape) {
    return std::vector{c.g().constant(Tensor::of(std::move(shape), element))};
  };
  if (c.has_attr("value_int")) return of(std::vector<int64_t>{c.int_attr("value_int")}, {});
  if (c.has_attr("value_float"))
    return of(std::vector<float>{static_cast<float>(c.float_attr("value_float"))}, {});
  if (c.has_attr("value_ints")) {
    auto v = c.ints_attr("value_ints");
    return of(v, {static_cast<int64_t>(v.size())});
  }
  if (const OnnxAttribute* a = c.find("value_floats"))
    return of(a->floats, {static_cast<int64_t>(a->floats.size())});
  if (c.has_attr("value_string"))
    return {c.g().constant(Tensor::of_strings({}, {c.text_attr("value_string", "")}))};
  if (c.has_attr("value_strings")) {
    auto v = c.texts_attr("value_strings");
    auto n = static_cast<int64_t>(v.size());
    return {c.g().constant(Tensor::of_strings({n}, std::move(v)))};
  }
  c.fail_unsupported("a dense value", "a sparse one or none");
}

std::vector<Value> identity(OnnxNodeContext& c) { return {c.in(0)}; }

std::vector<Value> shape(OnnxNodeContext& c) {
  return {c.g().shape_of(c.in(0), {.start = c.int_attr("start", 0), .end = c.int_attr("end", INT64_MAX)})};
}

std::vector<Value> reshape(OnnxNodeContext& c) {
  Value shape = c.in(0);
  if (c.opset() < 5) {
    auto v = c.ints_attr("shape");
    shape = c.g().constant(Tensor::of({static_cast<int64_t>(v.size())}, v));
  } else {
    shape = c.in(1);
  }
  return {c.g().reshape(c.in(0), shape, {.zero_is_zero = c.flag_attr("allowzero", false)})};
}

std::vector<Value> transpose(OnnxNodeContext& c) {
  return {c.g().transpose(c.in(0), {.permutation = c.ints_attr("perm")})};
}

std::vector<Value> concat(OnnxNodeContext& c) {
  return {c.g().concat(c.inputs(), {.axis = c.opset() < 4 ? c.int_attr("axis", 1) : c.int_attr("axis")})};
}

}  // namespace

void add_onnx_movement(OnnxOpTable& t) {
  t[{"", "Constant"}] = {.import = constant, .limits = "no sparse values"};
  t[{"", "Identity"}] = {.import = identity};
  t[{"", "Shape"}] = {.import = shape};
  t[{"", "Reshape"}] = {.import = reshape};
  t[{"", "Transpose"}] = {.import = transpose};
  t[{"", "Concat"}] = {.import = concat};
}

}  // namespace ingot
