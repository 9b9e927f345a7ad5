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

// Where along the axis each row of `update` goes: a run of positions that starts at its sample's write index.
std::vector<Value> tensor_scatter(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value past = c.in(0), update = c.in(1), none = scalar(g, DType::i64, 0);
  int64_t rank = g.rank(past), axis = c.int_attr("axis", -2);
  if (axis < 0) axis += rank;
  if (axis < 1 || axis >= rank)
    c.fail_invalid("an axis after the batch", fmt::format("{}", c.int_attr("axis", -2)));
  bool circular = c.enum_attr<bool>("mode", "linear", {{"linear", false}, {"circular", true}});
  auto along = [&](Value vector, int64_t at) {
    std::vector<int64_t> others;
    for (int64_t i = 0; i < rank; ++i)
      if (i != at) others.push_back(i);
    return g.unsqueeze(vector, int_list(g, others));
  };
  Value steps = g.range(none, as_scalar(g, size_of(g, update, axis)), scalar(g, DType::i64, 1));
  Value places = along(steps, axis);
  if (c.has(2)) places = g.add(places, along(c.in(2), 0));
  if (circular) places = g.mod(places, size_of(g, past, axis));
  return {g.scatter_elements(past, g.broadcast_to(places, g.shape_of(update)), update, {.axis = axis})};
}

}  // namespace

void add_onnx_indexing(OnnxOpTable& t) {
  t[{"", "Gather"}] = {.import = gather};
  t[{"", "GatherElements"}] = {.import = gather_elements, .first_opset = 11};
  t[{"", "GatherND"}] = {.import = gather_nd, .first_opset = 11};
  t[{"", "Scatter"}] = {.import = scatter_elements, .first_opset = 9};
  t[{"", "ScatterElements"}] = {.import = scatter_elements, .first_opset = 11};
  t[{"", "ScatterND"}] = {.import = scatter_nd, .first_opset = 11};
  t[{"", "TensorScatter"}] = {.import = tensor_scatter, .first_opset = 24};
}

}  // namespace ingot
