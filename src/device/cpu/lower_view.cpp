#include "device/cpu/lower_view.h"

#include <algorithm>

#include "device/cpu/plan_builder.h"
#include "device/cpu/static_graph.h"
#include "ir/op_info.h"

namespace ingot::cpu {
namespace {

std::vector<int64_t> numbers_of(const Graph& graph, const Node& node, size_t operand) {
  if (operand >= node.operands.size() || node.operands[operand].is_none()) return {};
  const Tensor tensor = constant_of(graph, node.operands[operand])->aligned();
  if (tensor.dtype() == DType::i32) return {tensor.data<int32_t>().begin(), tensor.data<int32_t>().end()};
  return {tensor.data<int64_t>().begin(), tensor.data<int64_t>().end()};
}

bool constant_operands(const Graph& graph, const Node& node, size_t first) {
  for (size_t i = first; i < node.operands.size(); ++i)
    if (!node.operands[i].is_none() && !constant_of(graph, node.operands[i])) return false;
  return true;
}

bool viewable(const Type& type) {
  return is_static(type) && type.dims->size() <= kMaxRank && type.dtype != DType::string &&
         !is_sub_byte(type.dtype);
}

Place moved(Place place, size_t axis, int64_t elements) {
  place.offset += elements * place.view.strides[axis] * bit_width(place.view.dtype) / 8;
  return place;
}

Place transposed(const Place& from, const TransposeAttrs& attrs) {
  Place to = from;
  for (int i = 0; i < from.view.rank; ++i) {
    const auto out = static_cast<size_t>(i);
    const auto in =
        static_cast<size_t>(attrs.permutation.empty() ? from.view.rank - 1 - i : attrs.permutation[out]);
    to.view.sizes[out] = from.view.sizes[in];
    to.view.strides[out] = from.view.strides[in];
  }
  return to;
}

Place sliced(const Graph& graph, const Node& node, const Place& from) {
  const std::vector<int64_t> starts = numbers_of(graph, node, 1);
  const std::vector<int64_t> axes = numbers_of(graph, node, 3);
  const std::vector<int64_t> steps = numbers_of(graph, node, 4);
  const Shape shape = static_shape(node.types[0]);
  Place to = from;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    if (axis < 0) axis += from.view.rank;
    const auto a = static_cast<size_t>(axis);
    const int64_t step = steps.empty() ? 1 : steps[i];
    const int64_t size = from.view.sizes[a];
    int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
    start = std::clamp<int64_t>(start, 0, step > 0 ? size : std::max<int64_t>(size - 1, 0));
    to.view.sizes[a] = shape[a];
    if (shape[a] > 0) to = moved(to, a, start);
    to.view.strides[a] *= step;
  }
  return to;
}

Place broadcast(const Place& from, const Shape& shape) {
  Place to = from;
  to.view.rank = static_cast<int>(shape.size());
  const size_t lead = shape.size() - static_cast<size_t>(from.view.rank);
  for (size_t i = shape.size(); i-- > 0;) {
    const bool repeats = i < lead || (from.view.sizes[i - lead] == 1 && shape[i] != 1);
    to.view.sizes[i] = shape[i];
    to.view.strides[i] = repeats ? 0 : from.view.strides[i - lead];
  }
  return to;
}

Place reshaped_place(PlanBuilder& builder, const Place& from, const Shape& shape) {
  Place to = from;
  if (std::optional<View> view = reshaped(from.view, shape)) {
    to.view = *view;
    return to;
  }
  to = builder.dense_copy(from);
  to.view = *reshaped(to.view, shape);
  return to;
}

void lower_split(PlanBuilder& builder, int32_t n, const Place& from) {
  const Node& node = builder.node(n);
  int64_t axis = node.as<SplitAttrs>().axis;
  if (axis < 0) axis += from.view.rank;
  int64_t start = 0;
  for (size_t i = 0; i < node.types.size(); ++i) {
    const Shape shape = static_shape(node.types[i]);
    const auto a = static_cast<size_t>(axis);
    Place part = shape[a] > 0 ? moved(from, a, start) : from;
    part.view.sizes[a] = shape[a];
    start += shape[a];
    builder.set_place({n, static_cast<int32_t>(i)}, part);
  }
}

}  // namespace

// As a run of axes that lie without gaps can be cut anew, and no other.
std::optional<View> reshaped(const View& view, const Shape& shape) {
  View out{.dtype = view.dtype, .rank = static_cast<int>(shape.size())};
  std::vector<std::pair<int64_t, int64_t>> runs;  // size, stride of its last axis
  for (int i = 0; i < view.rank; ++i) {
    const auto a = static_cast<size_t>(i);
    if (view.sizes[a] == 1) continue;
    if (!runs.empty() && runs.back().second == view.sizes[a] * view.strides[a])
      runs.back() = {runs.back().first * view.sizes[a], view.strides[a]};
    else
      runs.emplace_back(view.sizes[a], view.strides[a]);
  }
  size_t axis = shape.size();
  for (size_t r = runs.size(); r-- > 0;) {
    auto [left, stride] = runs[r];
    while (left > 1) {
      if (axis == 0) return std::nullopt;
      const int64_t size = shape[--axis];
      if (size == 0 || left % size != 0) return std::nullopt;
      out.sizes[axis] = size;
      out.strides[axis] = stride;
      stride *= size;
      left /= size;
    }
    if (left != 1) return std::nullopt;
  }
  while (axis > 0) {
    if (shape[--axis] != 1) return std::nullopt;
    out.sizes[axis] = 1;
    out.strides[axis] = 1;
  }
  return out;
}

bool is_view_op(const Graph& graph, const Node& node) {
  for (const Type& type : node.types)
    if (!viewable(type)) return false;
  if (node.operands.empty() || !viewable(graph.type(node.operands[0]))) return false;
  if (element_count(static_shape(graph.type(node.operands[0]))) == 0) return false;
  switch (node.op) {
    case Op::Reshape:
    case Op::Squeeze:
    case Op::Unsqueeze:
    case Op::BroadcastTo:
    case Op::Transpose:
    case Op::Split: return true;
    case Op::Slice: return constant_operands(graph, node, 1);
    default: return false;
  }
}

void lower_view(PlanBuilder& builder, const Group& group) {
  const int32_t n = group.root();
  const Node& node = builder.node(n);
  const Place& from = builder.place(node.operands[0]);
  const Shape shape = static_shape(node.types[0]);
  switch (node.op) {
    case Op::Transpose: return builder.set_place({n, 0}, transposed(from, node.as<TransposeAttrs>()));
    case Op::Slice: return builder.set_place({n, 0}, sliced(builder.graph(), node, from));
    case Op::BroadcastTo: return builder.set_place({n, 0}, broadcast(from, shape));
    case Op::Split: return lower_split(builder, n, from);
    default: return builder.set_place({n, 0}, reshaped_place(builder, from, shape));
  }
}

}  // namespace ingot::cpu
