#include "ir/gradient.h"

#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"

namespace ingot {
namespace {

// The inputs give the point at which to differentiate; here it is always the one the graph computes with.
std::vector<Value> gradient(OnnxNodeContext& c) {
  std::vector<std::string> names = c.texts_attr("xs");
  std::vector<Value> xs = c.values_of(names);
  for (size_t i = 0; i < xs.size(); ++i)
    if (c.in(i) != xs[i]) c.fail_unsupported(fmt::format("'{}' as input {}", names[i], i), "another value");
  return gradients(c.g(), c.values_of({c.text_attr("y", "")})[0], xs);
}

}  // namespace

void add_onnx_gradient(OnnxOpTable& t) {
  t[{"ai.onnx.preview.training", "Gradient"}] = {.import = gradient,
                                                 .limits =
                                                     "of add sub mul div neg exp log sqrt tanh sigmoid "
                                                     "without broadcasting, at the values of the graph"};
}

}  // namespace ingot
