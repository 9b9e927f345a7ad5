#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"

namespace ingot {
namespace {

std::vector<Value> gather(OnnxNodeContext& c) {
  return {c.g().gather(c.in(0), c.in(1), {.axis = c.int_attr("axis", 0)})};
}

std::vector<Value> gather_elements(OnnxNodeContext& c) {
  return {c.g().gather_elements(c.in(0), c.in(1), {.axis = c.int_attr("axis", 0)})};
}

std::vector<Value> gather_nd(OnnxNodeContext& c) {
  return {c.g().gather_nd(c.in(0), c.in(1), {.batch_axes = c.int_attr("batch_dims", 0)})};
}

Reduction reduction_attr(const OnnxNodeContext& c) {
  return c.enum_attr<Reduction>("reduction", "none",
                                {{"none", Reduction::none},
                                 {"add", Reduction::add},
                                 {"mul", Reduction::mul},
                                 {"min", Reduction::min},
                                 {"max", Reduction::max}});
}

std::vector<Value> scatter_elements(OnnxNodeContext& c) {
  return {c.g().scatter_elements(c.in(0), c.in(1), c.in(2),
                                 {.axis = c.int_attr("axis", 0), .reduction = reduction_attr(c)})};
}

std::vector<Value> scatter_nd(OnnxNodeContext& c) {
  return {c.g().scatter_nd(c.in(0), c.in(1), c.in(2), {.reduction = reduction_attr(c)})};
}

}  // namespace

void add_onnx_indexing(OnnxOpTable& t) {
  t[{"", "Gather"}] = {.import = gather};
  t[{"", "GatherElements"}] = {.import = gather_elements, .first_opset = 11};
  t[{"", "GatherND"}] = {.import = gather_nd, .first_opset = 11};
  t[{"", "Scatter"}] = {.import = scatter_elements, .first_opset = 9};
  t[{"", "ScatterElements"}] = {.import = scatter_elements, .first_opset = 11};
  t[{"", "ScatterND"}] = {.import = scatter_nd, .first_opset = 11};
}

}  // namespace ingot
