#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"
#include "ir/small_constants.h"

// Softmax and the normalisations.
namespace ingot {
namespace {

double epsilon(const OnnxNodeContext& c) { return c.float_attr("epsilon", 1e-5F); }

// Before opset 13 the axes from `axis` on were one row: `apply` gets them as the last axis of a matrix.
template <class F>
Value over_rows(OnnxNodeContext& c, F apply) {
  Value x = c.in(0);
  if (c.opset() >= 13) return apply(x, c.int_attr("axis", -1));
  GraphBuilder& g = c.g();
  Value rows = as_matrix(g, x, c.int_attr("axis", 1));
  return g.reshape(apply(rows, -1), g.shape_of(x), {.zero_is_zero = true});
}

std::vector<Value> softmax(OnnxNodeContext& c) {
  return {over_rows(c, [&](Value x, int64_t axis) { return c.g().softmax(x, {.axis = axis}); })};
}

std::vector<Value> log_softmax(OnnxNodeContext& c) {
  return {over_rows(c, [&](Value x, int64_t axis) { return c.g().log_softmax(x, {.axis = axis}); })};
}

// One at the first largest element, zero elsewhere.
std::vector<Value> hardmax(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  return {over_rows(c, [&](Value x, int64_t axis) {
    int64_t rank = g.rank(x);
    if (axis < 0) axis += rank;
    Value size = g.reshape(g.shape_of(x, {.start = axis, .end = axis + 1}), int_list(g, {}));
    Value index = g.range(scalar(g, DType::i64, 0), size, scalar(g, DType::i64, 1));
    std::vector<int64_t> trailing;
    for (int64_t i = 1; i < rank - axis; ++i) trailing.push_back(i);
    if (!trailing.empty()) index = g.unsqueeze(index, int_list(g, trailing));
    return g.cast(g.equal(g.arg_max(x, {.axis = axis}), index), {.to = g.dtype(x)});
  })};
}

std::vector<Value> layer_normalization(OnnxNodeContext& c) {
  auto [y, mean, inverse] = c.g().layer_norm(c.in(0), c.in(1), c.optional(2),
                                             {.axis = c.int_attr("axis", -1),
                                              .epsilon = epsilon(c),
                                              .compute = c.dtype_attr("stash_type", DType::f32)});
  return {y, mean, inverse};
}

std::vector<Value> rms_normalization(OnnxNodeContext& c) {
  auto [y, inverse] = c.g().rms_norm(c.in(0), c.in(1),
                                     {.axis = c.int_attr("axis", -1),
                                      .epsilon = epsilon(c),
                                      .compute = c.dtype_attr("stash_type", DType::f32)});
  return {y, inverse};
}

// Opsets 1 to 13 ask for statistics of the batch by wanting more outputs, later ones by an attribute.
bool is_training(const OnnxNodeContext& c) {
  if (c.opset() >= 14) return c.flag_attr("training_mode", false);
  for (size_t i = 1; i < c.output_count(); ++i)
    if (c.wants(i)) return true;
  return false;
}

// Normalises by the statistics of the batch, which also move the running ones.
std::vector<Value> batch_normalization_training(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  std::vector<int64_t> axes = {0};
  for (int64_t i = 2; i < g.rank(c.in(0)); ++i) axes.push_back(i);
  Value x = widen(g, c.in(0), c.dtype(3)), over = int_list(g, axes);
  Value mean = g.reduce_mean(x, over, {.keep_dims = true});
  Value centred = g.sub(x, mean);
  Value variance = g.reduce_mean(g.mul(centred, centred), over, {.keep_dims = false});
  mean = g.reshape(mean, int_list(g, {-1}));
  double momentum = c.float_attr("momentum", 0.9F);
  auto moved = [&](Value running, Value current) {
    Value wide = cast_to(g, running, g.dtype(x));
    Value sum =
        g.add(g.mul(wide, scalar_like(g, x, momentum)), g.mul(current, scalar_like(g, x, 1 - momentum)));
    return cast_to(g, sum, g.dtype(running));
  };
  Value y = g.batch_norm(c.in(0), c.in(1), c.in(2), mean, variance, {.epsilon = epsilon(c)});
  return {y, moved(c.in(3), mean), moved(c.in(4), variance), cast_to(g, mean, c.dtype(3)),
          cast_to(g, variance, c.dtype(4))};
}

std::vector<Value> batch_normalization(OnnxNodeContext& c) {
  if (is_training(c)) return batch_normalization_training(c);
  return {c.g().batch_norm(c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), {.epsilon = epsilon(c)})};
}

std::vector<Value> instance_normalization(OnnxNodeContext& c) {
  return {c.g().instance_norm(c.in(0), c.in(1), c.in(2), {.epsilon = epsilon(c)})};
}

// One parameter per group, as before opset 21, repeated for each channel of the group.
Value per_channel(OnnxNodeContext& c, Value parameter, int64_t groups) {
  GraphBuilder& g = c.g();
  Value channels = g.shape_of(c.in(0), {.start = 1, .end = 2});
  Value shape = g.concat({int_list(g, {groups}), g.div(channels, int_list(g, {groups}))});
  return g.reshape(g.broadcast_to(g.unsqueeze(parameter, int_list(g, {1})), shape), channels);
}

std::vector<Value> group_normalization(OnnxNodeContext& c) {
  int64_t groups = c.int_attr("num_groups");
  Value scale = c.in(1), bias = c.in(2);
  if (c.opset() < 21) {
    scale = per_channel(c, scale, groups);
    bias = per_channel(c, bias, groups);
  }
  return {c.g().group_norm(c.in(0), scale, bias, {.groups = groups, .epsilon = epsilon(c)})};
}

std::vector<Value> lp_normalization(OnnxNodeContext& c) {
  return {c.g().lp_norm(c.in(0), {.axis = c.int_attr("axis", -1), .p = c.int_attr("p", 2)})};
}

// (x - mean) / (deviation + 1e-9), the constant the operator's own definition adds.
std::vector<Value> mean_variance_normalization(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  auto given = c.ints_attr("axes");
  Value axes = int_list(g, given.empty() ? std::vector<int64_t>{0, 2, 3} : given);
  Value x = widen(g, c.in(0));
  Value centred = g.sub(x, g.reduce_mean(x, axes));
  Value deviation = g.sqrt(g.reduce_mean(g.mul(centred, centred), axes));
  return {cast_to(g, g.div(centred, g.add(deviation, scalar_like(g, x, 1e-9))), c.dtype(0))};
}

std::vector<Value> lrn(OnnxNodeContext& c) {
  return {c.g().lrn(c.in(0), {.size = c.int_attr("size"),
                              .alpha = c.float_attr("alpha", 1e-4F),
                              .beta = c.float_attr("beta", 0.75),
                              .bias = c.float_attr("bias", 1)})};
}

// The sum of the inputs that a following normalisation and the last output share.
Value skip_sum(OnnxNodeContext& c, size_t bias) {
  Value sum = c.g().add(c.in(0), c.in(1));
  return c.has(bias) ? c.g().add(sum, c.in(bias)) : sum;
}

std::vector<Value> skip_layer_normalization(OnnxNodeContext& c) {
  Value sum = skip_sum(c, 4);
  auto [y, mean, inverse] = c.g().layer_norm(sum, c.in(2), c.optional(3), {.epsilon = epsilon(c)});
  return {y, mean, inverse, sum};
}

std::vector<Value> skip_simplified_layer_normalization(OnnxNodeContext& c) {
  Value sum = skip_sum(c, 3);
  auto [y, inverse] = c.g().rms_norm(sum, c.in(2), {.epsilon = epsilon(c)});
  return {y, Value(), inverse, sum};
}

// Inputs: word ids, segment ids, tables of words, positions and segments, scale, bias, mask, position ids.
std::vector<Value> embed_layer_normalization(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  if (c.int_attr("mask_index_type", 0) != 0 && c.wants(1)) c.fail_unsupported("mask_index_type 0", "another");
  Value sum = g.gather(c.in(2), c.in(0));
  Value positions = c.optional(8);
  if (positions.is_none()) {
    Value length = g.reshape(g.shape_of(c.in(0), {.start = 1, .end = 2}), int_list(g, {}));
    positions = g.range(scalar(g, DType::i64, 0), length, scalar(g, DType::i64, 1));
  }
  sum = g.add(sum, g.gather(c.in(3), positions));
  if (c.has(1)) sum = g.add(sum, g.gather(c.in(4), c.in(1)));
  Value y = g.layer_norm(sum, c.in(5), c.in(6), {.epsilon = c.float_attr("epsilon", 1e-12F)})[0];
  Value lengths = c.has(7)
                      ? g.reduce_sum(cast_to(g, c.in(7), DType::i32), int_list(g, {1}), {.keep_dims = false})
                      : Value();
  return {y, lengths, sum};
}

}  // namespace

void add_onnx_normalization(OnnxOpTable& t) {
  t[{"", "BatchNormalization"}] = {.import = batch_normalization};
  t[{"", "GroupNormalization"}] = {.import = group_normalization, .first_opset = 18};
  t[{"", "Hardmax"}] = {.import = hardmax};
  t[{"", "InstanceNormalization"}] = {.import = instance_normalization};
  t[{"", "LRN"}] = {.import = lrn};
  t[{"", "LayerNormalization"}] = {.import = layer_normalization};
  t[{"", "LogSoftmax"}] = {.import = log_softmax};
  t[{"", "LpNormalization"}] = {.import = lp_normalization};
  t[{"", "MeanVarianceNormalization"}] = {.import = mean_variance_normalization, .first_opset = 9};
  t[{"", "RMSNormalization"}] = {.import = rms_normalization, .first_opset = 23};
  t[{"", "SimplifiedLayerNormalization"}] = {.import = rms_normalization};
  t[{"", "Softmax"}] = {.import = softmax};
  t[{"com.microsoft", "EmbedLayerNormalization"}] = {.import = embed_layer_normalization,
                                                     .limits = "mask lengths of type 0 only"};
  t[{"com.microsoft", "SimplifiedLayerNormalization"}] = {.import = rms_normalization};
  t[{"com.microsoft", "SkipLayerNormalization"}] = {.import = skip_layer_normalization};
  t[{"com.microsoft", "SkipSimplifiedLayerNormalization"}] = {.import = skip_simplified_layer_normalization};
}

}  // namespace ingot
