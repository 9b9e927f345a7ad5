#include "import/onnx/window.h"

#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"
#include "ir/small_constants.h"

// Convolution and pooling.
namespace ingot {
namespace {

AutoPad auto_pad(const OnnxNodeContext& c) {
  return c.enum_attr<AutoPad>("auto_pad", "NOTSET",
                              {{"NOTSET", AutoPad::none},
                               {"SAME_UPPER", AutoPad::same_upper},
                               {"SAME_LOWER", AutoPad::same_lower},
                               {"VALID", AutoPad::valid},
                               {"", AutoPad::none}});
}

std::vector<Value> conv(OnnxNodeContext& c) {
  return {c.g().conv(c.in(0), c.in(1), c.optional(2), conv_attributes(c))};
}

// `output_shape` may name all axes or only the spatial ones.
std::vector<Value> conv_transpose(OnnxNodeContext& c) {
  auto shape = c.ints_attr("output_shape");
  if (c.type(0).is_ranked() && shape.size() == c.type(0).dims->size() && !shape.empty())
    shape.erase(shape.begin(), shape.begin() + 2);
  ConvTransposeAttrs attrs{.strides = c.ints_attr("strides"),
                           .dilations = c.ints_attr("dilations"),
                           .pads = c.ints_attr("pads"),
                           .auto_pad = auto_pad(c),
                           .group = c.int_attr("group", 1),
                           .output_padding = c.ints_attr("output_padding"),
                           .output_shape = std::move(shape)};
  return {c.g().conv_transpose(c.in(0), c.in(1), c.optional(2), attrs)};
}

std::vector<Value> deform_conv(OnnxNodeContext& c) {
  DeformConvAttrs attrs{.strides = c.ints_attr("strides"),
                        .dilations = c.ints_attr("dilations"),
                        .pads = c.ints_attr("pads"),
                        .group = c.int_attr("group", 1),
                        .offset_group = c.int_attr("offset_group", 1)};
  return {c.g().deform_conv(c.in(0), c.in(1), c.in(2), c.optional(3), c.optional(4), attrs)};
}

std::vector<Value> max_pool(OnnxNodeContext& c) {
  MaxPoolAttrs attrs{.kernel = c.ints_attr("kernel_shape"),
                     .strides = c.ints_attr("strides"),
                     .dilations = c.ints_attr("dilations"),
                     .pads = c.ints_attr("pads"),
                     .auto_pad = auto_pad(c),
                     .ceil_mode = c.flag_attr("ceil_mode", false),
                     .column_major_indices = c.flag_attr("storage_order", false)};
  auto [values, indices] = c.g().max_pool(c.in(0), attrs);
  return {values, indices};
}

std::vector<Value> average_pool(OnnxNodeContext& c) {
  return {c.g().average_pool(c.in(0), average_pool_attributes(c))};
}

// p was a float in opset 1.
double norm_order(const OnnxNodeContext& c) {
  return c.opset() < 2 ? c.float_attr("p", 2) : static_cast<double>(c.int_attr("p", 2));
}

std::vector<Value> lp_pool(OnnxNodeContext& c) {
  LpPoolAttrs attrs{.kernel = c.ints_attr("kernel_shape"),
                    .strides = c.ints_attr("strides"),
                    .dilations = c.ints_attr("dilations"),
                    .pads = c.ints_attr("pads"),
                    .auto_pad = auto_pad(c),
                    .ceil_mode = c.flag_attr("ceil_mode", false),
                    .p = norm_order(c)};
  return {c.g().lp_pool(c.in(0), attrs)};
}

Value spatial_axes(OnnxNodeContext& c) {
  std::vector<int64_t> axes;
  for (int64_t i = 2; i < c.g().rank(c.in(0)); ++i) axes.push_back(i);
  return int_list(c.g(), axes);
}

std::vector<Value> global_average_pool(OnnxNodeContext& c) {
  return {c.g().reduce_mean(c.in(0), spatial_axes(c), {.keep_if_no_axes = true})};
}

std::vector<Value> global_max_pool(OnnxNodeContext& c) {
  return {c.g().reduce_max(c.in(0), spatial_axes(c), {.keep_if_no_axes = true})};
}

std::vector<Value> global_lp_pool(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  double p = norm_order(c);
  Value x = widen(g, c.in(0));
  Value powers = g.pow(g.abs(x), scalar_like(g, x, p));
  Value sum = g.reduce_sum(powers, spatial_axes(c), {.keep_if_no_axes = true});
  return {cast_to(g, g.pow(sum, scalar_like(g, x, 1 / p)), c.dtype(0))};
}

std::vector<Value> max_unpool(OnnxNodeContext& c) {
  MaxUnpoolAttrs attrs{
      .kernel = c.ints_attr("kernel_shape"), .strides = c.ints_attr("strides"), .pads = c.ints_attr("pads")};
  return {c.g().max_unpool(c.in(0), c.in(1), c.optional(2), attrs)};
}

std::vector<Value> max_roi_pool(OnnxNodeContext& c) {
  MaxRoiPoolAttrs attrs{.pooled = c.ints_attr("pooled_shape"),
                        .spatial_scale = c.float_attr("spatial_scale", 1)};
  return {c.g().max_roi_pool(c.in(0), c.in(1), attrs)};
}

}  // namespace

ConvAttrs conv_attributes(const OnnxNodeContext& c) {
  return {.strides = c.ints_attr("strides"),
          .dilations = c.ints_attr("dilations"),
          .pads = c.ints_attr("pads"),
          .auto_pad = auto_pad(c),
          .group = c.int_attr("group", 1)};
}

AveragePoolAttrs average_pool_attributes(const OnnxNodeContext& c) {
  return {.kernel = c.ints_attr("kernel_shape"),
          .strides = c.ints_attr("strides"),
          .dilations = c.ints_attr("dilations"),
          .pads = c.ints_attr("pads"),
          .auto_pad = auto_pad(c),
          .ceil_mode = c.flag_attr("ceil_mode", false),
          .count_include_pad = c.flag_attr("count_include_pad", false)};
}

void add_onnx_window(OnnxOpTable& t) {
  t[{"", "AveragePool"}] = {.import = average_pool};
  t[{"", "Conv"}] = {.import = conv};
  t[{"", "ConvTranspose"}] = {.import = conv_transpose};
  t[{"", "DeformConv"}] = {.import = deform_conv, .first_opset = 19, .limits = "two spatial axes"};
  t[{"", "GlobalAveragePool"}] = {.import = global_average_pool};
  t[{"", "GlobalLpPool"}] = {.import = global_lp_pool};
  t[{"", "GlobalMaxPool"}] = {.import = global_max_pool};
  t[{"", "LpPool"}] = {.import = lp_pool};
  t[{"", "MaxPool"}] = {.import = max_pool};
  t[{"", "MaxRoiPool"}] = {.import = max_roi_pool};
  t[{"", "MaxUnpool"}] = {.import = max_unpool, .first_opset = 9};
}

}  // namespace ingot
