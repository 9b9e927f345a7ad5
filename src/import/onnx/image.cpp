#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"

namespace ingot {
namespace {

// An input that is missing or a constant without elements says nothing.
Value input_if_given(OnnxNodeContext& c, size_t i) {
  Value v = c.optional(i);
  if (v.is_none()) return v;
  const Type& type = c.g().type(v);
  return type.is_ranked() && type.dims->size() == 1 && (*type.dims)[0] == Dim(0) ? Value() : v;
}

std::vector<double> constant_reals(OnnxNodeContext& c, Value v) {
  auto tensor = v.is_none() ? std::nullopt : c.g().constant_value(v);
  if (!tensor) return {};
  if (tensor->dtype() != DType::f32)
    c.fail_invalid("scales of float", std::string(to_string(tensor->dtype())));
  auto data = tensor->data<float>();
  return {data.begin(), data.end()};
}

ResizeMode resize_mode(const OnnxNodeContext& c) {
  return c.enum_attr<ResizeMode>("mode", "nearest",
                                 {{"nearest", ResizeMode::nearest},
                                  {"linear", ResizeMode::linear},
                                  {"bilinear", ResizeMode::linear},
                                  {"cubic", ResizeMode::cubic}});
}

// Until opset 10 there is one coordinate mode. Of nearest pixels, shrinking takes the upper one.
std::vector<Value> resize_by_factors(OnnxNodeContext& c, std::vector<double> factors, Value scales) {
  if (factors.empty()) factors = constant_reals(c, scales);
  bool shrinks = std::ranges::any_of(factors, [](double s) { return s < 1; });
  ResizeAttrs attrs;
  attrs.mode = resize_mode(c);
  attrs.coordinates = ResizeCoordinates::asymmetric;
  attrs.nearest = shrinks ? ResizeNearest::ceil : ResizeNearest::floor;
  attrs.scales = factors;
  return {c.g().resize(c.in(0), {}, factors.empty() ? scales : Value(), {}, attrs)};
}

std::vector<Value> upsample(OnnxNodeContext& c) {
  if (c.opset() >= 9) return resize_by_factors(c, {}, c.in(1));
  if (c.has_attr("scales")) return resize_by_factors(c, c.floats_attr("scales"), {});
  return resize_by_factors(c, {1, 1, c.float_attr("height_scale"), c.float_attr("width_scale")}, {});
}

ResizeCoordinates coordinates(const OnnxNodeContext& c) {
  using enum ResizeCoordinates;
  return c.enum_attr<ResizeCoordinates>("coordinate_transformation_mode", "half_pixel",
                                        {{"half_pixel", half_pixel},
                                         {"half_pixel_symmetric", half_pixel_symmetric},
                                         {"pytorch_half_pixel", pytorch_half_pixel},
                                         {"align_corners", align_corners},
                                         {"asymmetric", asymmetric},
                                         {"tf_crop_and_resize", tf_crop_and_resize},
                                         {"tf_half_pixel_for_nn", tf_half_pixel_for_nn}});
}

ResizeAttrs resize_attrs(const OnnxNodeContext& c) {
  using enum ResizeNearest;
  using enum ResizePolicy;
  return {.mode = resize_mode(c),
          .coordinates = coordinates(c),
          .nearest = c.enum_attr<ResizeNearest>("nearest_mode", "round_prefer_floor",
                                                {{"round_prefer_floor", round_prefer_floor},
                                                 {"round_prefer_ceil", round_prefer_ceil},
                                                 {"floor", floor},
                                                 {"ceil", ceil}}),
          .policy = c.enum_attr<ResizePolicy>(
              "keep_aspect_ratio_policy", "stretch",
              {{"stretch", stretch}, {"not_larger", not_larger}, {"not_smaller", not_smaller}}),
          .scales = {},
          .axes = c.ints_attr("axes"),
          .cubic_coefficient = c.float_attr("cubic_coeff_a", -0.75),
          .extrapolation = c.float_attr("extrapolation_value", 0),
          .antialias = c.flag_attr("antialias", false),
          .exclude_outside = c.flag_attr("exclude_outside", false)};
}

std::vector<Value> resize(OnnxNodeContext& c) {
  if (c.opset() < 11) return resize_by_factors(c, {}, c.in(1));
  ResizeAttrs attrs = resize_attrs(c);
  Value scales = input_if_given(c, 2), sizes = input_if_given(c, 3), roi;
  if (attrs.coordinates == ResizeCoordinates::tf_crop_and_resize) {
    roi = input_if_given(c, 1);
    if (roi.is_none()) c.fail_invalid("a region for tf_crop_and_resize", "none");
  }
  if (!sizes.is_none()) return {c.g().resize(c.in(0), roi, {}, sizes, attrs)};
  if (scales.is_none()) c.fail_invalid("scales or sizes", "neither");
  attrs.scales = constant_reals(c, scales);
  return {c.g().resize(c.in(0), roi, attrs.scales.empty() ? scales : Value(), {}, attrs)};
}

std::vector<Value> grid_sample(OnnxNodeContext& c) {
  using enum GridSamplePadding;
  auto mode = c.enum_attr<GridSampleMode>("mode", "linear",
                                          {{"linear", GridSampleMode::linear},
                                           {"bilinear", GridSampleMode::linear},
                                           {"nearest", GridSampleMode::nearest},
                                           {"cubic", GridSampleMode::cubic},
                                           {"bicubic", GridSampleMode::cubic}});
  auto padding = c.enum_attr<GridSamplePadding>(
      "padding_mode", "zeros", {{"zeros", zeros}, {"border", border}, {"reflection", reflection}});
  return {c.g().grid_sample(
      c.in(0), c.in(1),
      {.mode = mode, .padding = padding, .align_corners = c.flag_attr("align_corners", false)})};
}

// n positions from -1 to 1: of the first and last pixel's centres, or of all pixels' centres.
Value normalised_positions(GraphBuilder& g, Value n, DType dtype, bool align_corners) {
  auto real = [&](double x) { return scalar(g, dtype, x); };
  Value i = g.cast(g.range(scalar(g, DType::i64, 0), n, scalar(g, DType::i64, 1)), {.to = dtype});
  Value count = g.cast(n, {.to = dtype});
  if (!align_corners) return g.sub(g.div(g.add(g.mul(i, real(2)), real(1)), count), real(1));
  Value last = g.max(g.sub(count, real(1)), real(1));
  return g.sub(g.div(g.mul(i, real(2)), last), real(1));
}

// theta [n, k, k + 1] applied to the positions of an image of the given size [n, c, d1..dk]: [n, d1..dk, k].
// The first coordinate is that of the last axis.
std::vector<Value> affine_grid(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value theta = c.in(0), size = c.in(1);
  if (!g.is_ranked(size) || g.rank(size) != 1 || !g.dims(size)[0].is_constant())
    c.fail_unsupported("a size of known rank", to_string(g.type(size)));
  int64_t k = g.dims(size)[0].constant() - 2;
  if (k != 2 && k != 3) c.fail_invalid("a size of 4 or 5 numbers", fmt::format("{}", k + 2));
  std::vector<int64_t> column_shape(static_cast<size_t>(k + 2), 1);
  column_shape.front() = 0, column_shape.back() = k;  // [n, 1.., k]
  auto column = [&](int64_t j) {
    Value picked = g.gather(theta, scalar(g, DType::i64, static_cast<double>(j)), {.axis = 2});
    return g.reshape(picked, int_list(g, column_shape));
  };
  Value sum = column(k);
  for (int64_t j = 0; j < k; ++j) {
    Value n = g.gather(size, scalar(g, DType::i64, static_cast<double>(k + 1 - j)));
    Value x = normalised_positions(g, n, g.dtype(theta), c.flag_attr("align_corners", false));
    std::vector<int64_t> shape(static_cast<size_t>(k + 2), 1);
    shape[static_cast<size_t>(k - j)] = -1;
    sum = g.add(sum, g.mul(g.reshape(x, int_list(g, shape)), column(j)));
  }
  return {sum};
}

std::vector<Value> roi_align(OnnxNodeContext& c) {
  using enum RoiCoordinates;
  auto mode = c.enum_attr<RoiMode>("mode", "avg", {{"avg", RoiMode::avg}, {"max", RoiMode::max}});
  auto form = c.enum_attr<RoiCoordinates>(
      "coordinate_transformation_mode", c.opset() < 16 ? "output_half_pixel" : "half_pixel",
      {{"half_pixel", half_pixel}, {"output_half_pixel", output_half_pixel}});
  return {c.g().roi_align(c.in(0), c.in(1), c.in(2),
                          {.mode = mode,
                           .coordinates = form,
                           .height = c.int_attr("output_height", 1),
                           .width = c.int_attr("output_width", 1),
                           .sampling_ratio = c.int_attr("sampling_ratio", 0),
                           .spatial_scale = c.float_attr("spatial_scale", 1)})};
}

std::vector<Value> det(OnnxNodeContext& c) { return {c.g().det(c.in(0))}; }

}  // namespace

void add_onnx_image(OnnxOpTable& t) {
  t[{"", "Resize"}] = {.import = resize, .first_opset = 10};
  t[{"", "Upsample"}] = {.import = upsample};
  t[{"", "GridSample"}] = {.import = grid_sample, .first_opset = 16};
  t[{"", "AffineGrid"}] = {.import = affine_grid, .first_opset = 20};
  t[{"", "RoiAlign"}] = {.import = roi_align, .first_opset = 10};
  t[{"", "Det"}] = {.import = det, .first_opset = 11};
}

}  // namespace ingot
