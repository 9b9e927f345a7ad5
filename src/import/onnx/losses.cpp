#include <climits>

#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/small_constants.h"

// Losses of training, as primitives. Classes lie along axis 1 of the scores.
namespace ingot {
namespace {

using Values = std::vector<Value>;

// The weight of each sample: that of its class, and none where the class is to be ignored.
Value sample_weights(OnnxNodeContext& c, Value classes, Value ignored, DType dtype) {
  GraphBuilder& g = c.g();
  Value one = scalar(g, dtype, 1), zero = scalar(g, dtype, 0);
  Value weights = c.has(2) ? g.gather(c.in(2), classes) : one;
  return ignored.is_none() ? weights : g.select(ignored, zero, weights);
}

Value loss_of(OnnxNodeContext& c, Value log_probabilities) {
  GraphBuilder& g = c.g();
  LossReduction reduction = c.enum_attr<LossReduction>(
      "reduction", "mean",
      {{"none", LossReduction::none}, {"sum", LossReduction::sum}, {"mean", LossReduction::mean}});
  Value classes = c.in(1), ignored;
  if (c.has_attr("ignore_index")) {
    // An ignored class need not exist, so it is read as class 0.
    ignored = g.equal(classes, scalar_like(g, classes, static_cast<double>(c.int_attr("ignore_index"))));
    classes = g.select(ignored, scalar_like(g, classes, 0), classes);
  }
  Value axis = int_list(g, {1});
  Value picked = g.gather_elements(log_probabilities, g.unsqueeze(classes, axis), {.axis = 1});
  Value loss = g.neg(g.squeeze(picked, axis));
  bool weighted = c.has(2) || !ignored.is_none();
  Value weights = weighted ? sample_weights(c, classes, ignored, g.dtype(loss)) : Value();
  if (weighted) loss = g.mul(loss, weights);
  switch (reduction) {
    case LossReduction::none: return loss;
    case LossReduction::sum: return g.reduce_sum(loss, Value(), {.keep_dims = false});
    case LossReduction::mean: break;
  }
  if (!weighted) return g.reduce_mean(loss, Value(), {.keep_dims = false});
  return g.div(g.reduce_sum(loss, Value(), {.keep_dims = false}),
               g.reduce_sum(weights, Value(), {.keep_dims = false}));
}

Values negative_log_likelihood(OnnxNodeContext& c) { return {loss_of(c, c.in(0))}; }

Values softmax_cross_entropy(OnnxNodeContext& c) {
  Value log_probabilities = c.g().log_softmax(c.in(0), {.axis = 1});
  return {loss_of(c, log_probabilities), log_probabilities};
}

}  // namespace

void add_onnx_losses(OnnxOpTable& t) {
  t[{"", "NegativeLogLikelihoodLoss"}] = {.import = negative_log_likelihood, .first_opset = 12};
  t[{"", "SoftmaxCrossEntropyLoss"}] = {.import = softmax_cross_entropy, .first_opset = 12};
}

}  // namespace ingot
