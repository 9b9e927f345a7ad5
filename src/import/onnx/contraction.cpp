#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"

namespace ingot {
namespace {

std::vector<Value> matmul(OnnxNodeContext& c) { return {c.g().matmul(c.in(0), c.in(1))}; }

// Before opset 7 an attribute asked for broadcasting of C; what it allows is what every opset allows here.
std::vector<Value> gemm(OnnxNodeContext& c) {
  GemmAttrs attrs{.alpha = c.float_attr("alpha", 1),
                  .beta = c.float_attr("beta", 1),
                  .transpose_a = c.flag_attr("transA", false),
                  .transpose_b = c.flag_attr("transB", false)};
  return {c.g().gemm(c.in(0), c.in(1), c.optional(2), attrs)};
}

std::vector<Value> einsum(OnnxNodeContext& c) {
  return {c.g().einsum(c.inputs(), {.equation = c.text_attr("equation", "")})};
}

}  // namespace

void add_onnx_contraction(OnnxOpTable& t) {
  t[{"", "Einsum"}] = {.import = einsum, .first_opset = 12};
  t[{"", "Gemm"}] = {.import = gemm};
  t[{"", "MatMul"}] = {.import = matmul};
}

}  // namespace ingot
