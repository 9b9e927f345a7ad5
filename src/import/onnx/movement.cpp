#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"

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
  Value shape = c.opset() < 5 ? int_list(c.g(), c.ints_attr("shape")) : c.in(1);
  return {c.g().reshape(c.in(0), shape, {.zero_is_zero = c.flag_attr("allowzero", false)})};
}

std::vector<Value> transpose(OnnxNodeContext& c) {
  return {c.g().transpose(c.in(0), {.permutation = c.ints_attr("perm")})};
}

std::vector<Value> concat(OnnxNodeContext& c) {
  return {c.g().concat(c.inputs(), {.axis = c.opset() < 4 ? c.int_attr("axis", 1) : c.int_attr("axis")})};
}

std::vector<Value> squeeze(OnnxNodeContext& c) {
  return {c.g().squeeze(c.in(0), c.ints_of(1, "axes", c.opset() < 13))};
}

std::vector<Value> unsqueeze(OnnxNodeContext& c) {
  return {c.g().unsqueeze(c.in(0), c.ints_of(1, "axes", c.opset() < 13))};
}

std::vector<Value> flatten(OnnxNodeContext& c) { return {as_matrix(c.g(), c.in(0), c.int_attr("axis", 1))}; }

std::vector<Value> expand(OnnxNodeContext& c) { return {c.g().broadcast_to(c.in(0), c.in(1))}; }

// The first version repeats along one axis.
std::vector<Value> tile(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  if (c.opset() >= 6) return {g.tile(c.in(0), cast_to(g, c.in(1), DType::i64))};
  auto times = c.known_ints(1), axis = c.known_ints(2);
  if (!times || !axis || times->size() != 1 || axis->size() != 1 || axis->at(0) < 0 ||
      axis->at(0) >= g.rank(c.in(0)))
    c.fail_unsupported("constants for `tiles` and `axis`", "computed values or another count");
  std::vector<int64_t> repeats(static_cast<size_t>(g.rank(c.in(0))), 1);
  repeats[static_cast<size_t>(axis->at(0))] = times->at(0);
  return {g.tile(c.in(0), int_list(g, repeats))};
}

std::vector<Value> size(OnnxNodeContext& c) { return {element_count_of(c.g(), c.in(0))}; }

std::vector<Value> constant_of_shape(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  auto value = c.tensor_attr("value");
  if (value && value->count() != 1) c.fail_invalid("one value", fmt::format("{}", value->count()));
  Value one = value ? g.constant(value->reshaped({})) : zero(g, DType::f32);
  return {g.broadcast_to(one, c.in(0))};
}

std::vector<Value> range(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  return {g.range(as_scalar(g, c.in(0)), as_scalar(g, c.in(1)), as_scalar(g, c.in(2)))};
}

std::vector<Value> slice(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  bool attributes = c.opset() < 10;
  return {g.slice(c.in(0), c.ints_of(1, "starts", attributes), c.ints_of(2, "ends", attributes),
                  c.ints_of(3, "axes", attributes), attributes ? Value() : c.ints_of(4, "steps", false))};
}

std::vector<Value> pad(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  PadMode mode = c.enum_attr<PadMode>("mode", "constant",
                                      {{"constant", PadMode::constant},
                                       {"reflect", PadMode::reflect},
                                       {"edge", PadMode::edge},
                                       {"wrap", PadMode::wrap}});
  if (c.opset() >= 11)
    return {g.pad(c.in(0), c.ints_of(1, "pads", false), c.optional(2), c.ints_of(3, "axes", false),
                  {.mode = mode})};
  double fill = c.float_attr("value", 0);
  Value value = fill == 0 ? Value() : scalar(g, c.dtype(0), fill);
  return {g.pad(c.in(0), int_list(g, c.ints_attr(c.opset() < 2 ? "paddings" : "pads")), value, {},
                {.mode = mode})};
}

// Sizes were an attribute before 13 (and in 1 also an input), then an input.
std::vector<Value> split(OnnxNodeContext& c) {
  auto parts = static_cast<int>(c.output_count());
  bool attribute = c.opset() < 13 && !c.has(1);
  if (c.int_attr("num_outputs", parts) != parts)
    c.fail_invalid(fmt::format("num_outputs of {}", parts), fmt::format("{}", c.int_attr("num_outputs")));
  Value sizes = c.ints_of(1, "split", attribute);
  return c.g().split(c.in(0), sizes, parts, {.axis = c.int_attr("axis", 0)});
}

}  // namespace

void add_onnx_movement(OnnxOpTable& t) {
  t[{"", "Constant"}] = {.import = constant, .limits = "no sparse values"};
  t[{"", "Identity"}] = {.import = identity};
  t[{"", "Shape"}] = {.import = shape};
  t[{"", "Reshape"}] = {.import = reshape};
  t[{"", "Transpose"}] = {.import = transpose};
  t[{"", "Concat"}] = {.import = concat};
  t[{"", "Squeeze"}] = {.import = squeeze};
  t[{"", "Unsqueeze"}] = {.import = unsqueeze};
  t[{"", "Flatten"}] = {.import = flatten};
  t[{"", "Expand"}] = {.import = expand};
  t[{"", "Tile"}] = {.import = tile};
  t[{"", "Size"}] = {.import = size};
  t[{"", "ConstantOfShape"}] = {.import = constant_of_shape};
  t[{"", "Range"}] = {.import = range};
  t[{"", "Slice"}] = {.import = slice};
  t[{"", "Pad"}] = {.import = pad};
  t[{"", "Split"}] = {.import = split};
}

}  // namespace ingot
