#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"

// Masks, one-hot codes, and ops that search and sort.
namespace ingot {
namespace {

// Column minus row of the last two axes, [rows, columns].
Value diagonal(GraphBuilder& g, Value x) {
  auto count_up = [&](int64_t axis) {
    return g.range(scalar(g, DType::i64, 0), as_scalar(g, size_of(g, x, axis)), scalar(g, DType::i64, 1));
  };
  return g.sub(count_up(-1), g.unsqueeze(count_up(-2), int_list(g, {1})));
}

std::vector<Value> trilu(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), k = c.has(1) ? as_scalar(g, c.in(1)) : scalar(g, DType::i64, 0);
  Value keep =
      c.flag_attr("upper", true) ? g.less_or_equal(k, diagonal(g, x)) : g.less_or_equal(diagonal(g, x), k);
  return {g.select(keep, x, zero(g, g.dtype(x)))};
}

std::vector<Value> eye_like(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value k = g.constant(Tensor::of<int64_t>({}, {c.int_attr("k", 0)}));
  return {g.cast(g.equal(diagonal(g, c.in(0)), k), {.to = c.dtype_attr("dtype", c.dtype(0))})};
}

std::vector<Value> one_hot(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value none = scalar(g, DType::i64, 0), one = scalar(g, DType::i64, 1);
  Value depth = as_scalar(g, cast_to(g, c.in(1), DType::i64));
  Value given = cast_to(g, c.in(0), DType::i64);
  Value indices = g.select(g.less(given, none), g.add(given, depth), given);
  int64_t rank = g.rank(given), axis = c.int_attr("axis", -1);
  if (axis < -rank - 1 || axis > rank)
    c.fail_invalid(fmt::format("axis in [{}, {}]", -rank - 1, rank), fmt::format("{}", axis));
  if (axis < 0) axis += rank + 1;
  std::vector<int64_t> behind;
  for (int64_t i = axis; i < rank; ++i) behind.push_back(i - axis + 1);
  Value classes = g.unsqueeze(g.range(none, depth, one), int_list(g, behind));
  Value hit = g.equal(g.unsqueeze(indices, int_list(g, {axis})), classes);
  return {g.select(hit, g.gather(c.in(2), one), g.gather(c.in(2), none))};
}

std::vector<Value> compress(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value kept = g.squeeze(g.non_zero(c.in(1)), int_list(g, {0}));
  if (c.has_attr("axis")) return {g.gather(c.in(0), kept, {.axis = c.int_attr("axis")})};
  return {g.gather(g.reshape(c.in(0), int_list(g, {-1})), kept)};
}

std::vector<Value> non_zero(OnnxNodeContext& c) { return {c.g().non_zero(c.in(0))}; }

// `sorted` needs no care: an order that may be any may be this one.
std::vector<Value> top_k(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value k = c.opset() < 10 ? int_list(g, {c.int_attr("k")}) : c.in(1);
  auto [values, places] =
      g.top_k(c.in(0), k, {.axis = c.int_attr("axis", -1), .largest = c.flag_attr("largest", true)});
  return {values, places};
}

std::vector<Value> unique(OnnxNodeContext& c) {
  auto results = c.g().unique(
      c.in(0),
      {.flat = !c.has_attr("axis"), .axis = c.int_attr("axis", 0), .sorted = c.flag_attr("sorted", true)});
  return {results.begin(), results.end()};
}

std::vector<Value> non_max_suppression(OnnxNodeContext& c) {
  return {c.g().non_max_suppression(c.in(0), c.in(1), c.optional(2), c.optional(3), c.optional(4),
                                    {.centred = c.flag_attr("center_point_box", false)})};
}

}  // namespace

void add_onnx_selection(OnnxOpTable& t) {
  t[{"", "Trilu"}] = {.import = trilu, .first_opset = 14};
  t[{"", "EyeLike"}] = {.import = eye_like, .first_opset = 9};
  t[{"", "OneHot"}] = {.import = one_hot, .first_opset = 9};
  t[{"", "Compress"}] = {.import = compress, .first_opset = 9};
  t[{"", "NonZero"}] = {.import = non_zero, .first_opset = 9};
  t[{"", "TopK"}] = {.import = top_k};
  t[{"", "Unique"}] = {.import = unique, .first_opset = 11};
  t[{"", "NonMaxSuppression"}] = {.import = non_max_suppression, .first_opset = 10};
}

}  // namespace ingot
