#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"

namespace ingot {
namespace {

std::vector<Value> matmul(OnnxNodeContext& c) { return {c.g().matmul(c.in(0), c.in(1))}; }

}  // namespace

void add_onnx_contraction(OnnxOpTable& t) { t[{"", "MatMul"}] = {.import = matmul}; }

}  // namespace ingot
