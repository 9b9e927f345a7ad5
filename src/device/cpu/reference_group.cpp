#include "device/cpu/reference_group.h"

#include <algorithm>
#include <map>

#include "device/cpu/copy.h"
#include "device/cpu/static_graph.h"
#include "device/reference/evaluate.h"

namespace ingot::cpu {

ReferenceGroup::ReferenceGroup(PlanBuilder& builder, const Group& group, Place out) : out_(out) {
  for (int32_t n : group.nodes) {
    nodes_.emplace_back(n, builder.node(n));
    for (Value v : builder.node(n).operands) {
      const bool inside = std::ranges::find(group.nodes, v.node) != group.nodes.end();
      const bool known = std::ranges::find(inputs_, v, &Input::value) != inputs_.end();
      if (!v.is_none() && !inside && !known)
        inputs_.push_back({v, builder.graph().type(v), builder.place(v)});
    }
  }
}

std::vector<Place> ReferenceGroup::reads() const {
  std::vector<Place> places;
  for (const Input& input : inputs_) places.push_back(input.place);
  return places;
}

void ReferenceGroup::run(const Frame& frame) const {
  std::map<Value, Datum> values;
  for (const Input& input : inputs_) {
    Tensor tensor = Tensor::allocate(input.type.dtype, static_shape(input.type));
    copy(frame.view(input.place), dense_view(tensor.dtype(), tensor.shape(), tensor.mutable_bytes().data()),
         frame.pool);
    values[input.value] = std::move(tensor);
  }
  Datum result;
  for (const auto& [n, node] : nodes_) {
    std::vector<Datum> operands;
    for (Value v : node.operands) operands.push_back(v.is_none() ? Datum() : values.at(v));
    result = reference::evaluate_node(node, operands)[0];
    values[Value{n, 0}] = result;
  }
  copy(view_of(result.tensor()), frame.view(out_), frame.pool);
}

}  // namespace ingot::cpu
