#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "import/onnx/window.h"
#include "ir/small_constants.h"

// Fused operators of the com.microsoft domain.
namespace ingot {
namespace {

Value transpose_matrix(GraphBuilder& g, Value x) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < g.rank(x); ++i) order.push_back(i);
  if (order.size() < 2) return x;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return g.transpose(x, {.permutation = order});
}

std::vector<Value> fused_matmul(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  if (c.flag_attr("transBatchA", false) || c.flag_attr("transBatchB", false))
    c.fail_unsupported("transBatchA and transBatchB of 0", "1");
  Value a = c.flag_attr("transA", false) ? transpose_matrix(g, c.in(0)) : c.in(0);
  Value b = c.flag_attr("transB", false) ? transpose_matrix(g, c.in(1)) : c.in(1);
  Value y = g.matmul(a, b);
  double alpha = c.float_attr("alpha", 1);
  return {alpha == 1 ? y : g.mul(y, scalar_like(g, y, alpha))};
}

double parameter(const OnnxNodeContext& c, size_t i, double missing) {
  auto given = c.floats_attr("activation_params");
  return i < given.size() ? given[i] : missing;
}

Value activate(OnnxNodeContext& c, Value x) {
  GraphBuilder& g = c.g();
  std::string name = c.text_attr("activation", "");
  if (name.empty()) return x;
  if (name == "Relu") return g.relu(x);
  if (name == "Tanh") return g.tanh(x);
  if (name == "Sigmoid") return g.sigmoid(x);
  if (name == "LeakyRelu") return g.leaky_relu(x, {.alpha = parameter(c, 0, 0.01)});
  if (name == "HardSigmoid")
    return g.hard_sigmoid(x, {.alpha = parameter(c, 0, 0.2), .beta = parameter(c, 1, 0.5)});
  if (name == "Clip")
    return g.clamp(x, scalar_like(g, x, parameter(c, 0, 0)), scalar_like(g, x, parameter(c, 1, 0)));
  c.fail_unsupported("a known activation", name);
}

// A convolution, plus a fourth operand, through an activation.
std::vector<Value> fused_conv(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value y = g.conv(c.in(0), c.in(1), c.optional(2), conv_attributes(c));
  if (c.has(3)) y = g.add(y, c.in(3));
  return {activate(c, y)};
}

}  // namespace

void add_onnx_microsoft(OnnxOpTable& t) {
  t[{"com.microsoft", "FusedConv"}] = {.import = fused_conv};
  t[{"com.microsoft", "FusedMatMul"}] = {.import = fused_matmul, .limits = "no transposed batches"};
}

}  // namespace ingot
