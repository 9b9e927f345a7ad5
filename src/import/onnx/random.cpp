#include <bit>

#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

using Values = std::vector<Value>;

// FNV-1a.
uint64_t hash(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325;
  for (char ch : text) h = (h ^ static_cast<unsigned char>(ch)) * 0x100000001b3;
  return h;
}

// A node without a seed takes one from the name of its output: nodes then differ, and runs repeat.
int64_t seed(const OnnxNodeContext& c) {
  if (!c.has_attr("seed")) return static_cast<int64_t>(hash(c.node().outputs.at(0)));
  return std::bit_cast<int32_t>(static_cast<float>(c.float_attr("seed")));
}

Values random_normal_of(OnnxNodeContext& c, Value shape, DType dtype) {
  return {c.g().random_normal(
      shape,
      {.dtype = dtype, .mean = c.float_attr("mean", 0), .scale = c.float_attr("scale", 1), .seed = seed(c)})};
}

Values random_uniform_of(OnnxNodeContext& c, Value shape, DType dtype) {
  return {c.g().random_uniform(
      shape,
      {.dtype = dtype, .low = c.float_attr("low", 0), .high = c.float_attr("high", 1), .seed = seed(c)})};
}

using Draw = Values (*)(OnnxNodeContext& c, Value shape, DType dtype);

// The shape is an attribute, or that of an input.
template <Draw draw>
Values of_shape(OnnxNodeContext& c) {
  if (!c.has_attr("shape")) c.fail_invalid("attribute 'shape'", "none");
  return draw(c, int_list(c.g(), c.ints_attr("shape")), c.dtype_attr("dtype", DType::f32));
}
template <Draw draw>
Values like_input(OnnxNodeContext& c) {
  return draw(c, c.g().shape_of(c.in(0)), c.dtype_attr("dtype", c.dtype(0)));
}

Values bernoulli(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value drawn = g.random_uniform(g.shape_of(c.in(0)), {.dtype = c.dtype(0), .seed = seed(c)});
  return {g.cast(g.less(drawn, c.in(0)), {.to = c.dtype_attr("dtype", c.dtype(0))})};
}

Values multinomial(OnnxNodeContext& c) {
  return {c.g().multinomial(c.in(0), {.sample_size = c.int_attr("sample_size", 1),
                                      .seed = seed(c),
                                      .dtype = c.dtype_attr("dtype", DType::i32)})};
}

// Whether to drop anything: none where it is known that nothing is.
Value training_mode(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  if (c.opset() < 7) return c.flag_attr("is_test", false) ? Value() : scalar(g, DType::boolean, 1);
  if (c.opset() < 12 || !c.has(2)) return {};
  auto known = g.constant_value(c.in(2));
  return known && known->count() == 1 && !known->data<bool>()[0] ? Value() : c.in(2);
}

// The kept elements, and the data with the others zero and the kept ones scaled up to the same mean.
std::pair<Value, Value> drop(OnnxNodeContext& c, Value training) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), ratio;
  if (c.opset() >= 12 && c.has(1))
    ratio = g.cast(c.in(1), {.to = DType::f32});
  else
    ratio = scalar(g, DType::f32, c.opset() < 12 ? c.float_attr("ratio", 0.5) : 0.5);
  int64_t key = c.has_attr("seed") ? c.int_attr("seed") : static_cast<int64_t>(hash(c.node().outputs.at(0)));
  Value drawn = g.random_uniform(g.shape_of(x), {.dtype = DType::f32, .seed = key});
  Value kept = g.less_or_equal(ratio, drawn);
  Value share = g.cast(g.sub(scalar(g, DType::f32, 1), ratio), {.to = g.dtype(x)});
  Value dropped = g.select(kept, g.div(x, share), scalar_like(g, x, 0));
  return {g.logical_or(kept, g.logical_not(training)), g.select(training, dropped, x)};
}

Values dropout(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), training = training_mode(c), mask;
  Value y = x;
  if (!training.is_none())
    std::tie(mask, y) = drop(c, training);
  else if (c.wants(1))
    mask = g.broadcast_to(scalar(g, DType::boolean, 1), g.shape_of(x));
  if (c.opset() < 10 && c.wants(1)) mask = g.cast(mask, {.to = g.dtype(x)});
  return {y, mask};
}

}  // namespace

void add_onnx_random(OnnxOpTable& t) {
  constexpr std::string_view kLimits =
      "values differ from those of other libraries; without a seed the numbers follow from the output's "
      "name, and every "
      "run and every turn of a loop repeats them";
  t[{"", "Bernoulli"}] = {.import = bernoulli, .first_opset = 15, .limits = kLimits};
  t[{"", "Dropout"}] = {.import = dropout, .limits = kLimits};
  t[{"", "Multinomial"}] = {.import = multinomial, .first_opset = 7, .limits = kLimits};
  t[{"", "RandomNormal"}] = {.import = of_shape<random_normal_of>, .limits = kLimits};
  t[{"", "RandomNormalLike"}] = {.import = like_input<random_normal_of>, .limits = kLimits};
  t[{"", "RandomUniform"}] = {.import = of_shape<random_uniform_of>, .limits = kLimits};
  t[{"", "RandomUniformLike"}] = {.import = like_input<random_uniform_of>, .limits = kLimits};
}

}  // namespace ingot
