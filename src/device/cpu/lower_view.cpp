#include "device/cpu/lower_view.h"

#include <algorithm>
#include <optional>

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

// Constant indices that go up or down evenly along each of their axes.
struct EvenIndices {
  int64_t start = 0;
  std::vector<int64_t> steps;  // by axis
};

std::optional<EvenIndices> even_indices(const Graph& graph, const Node& node) {
  if (!constant_operands(graph, node, 1)) return std::nullopt;
  const Shape shape = static_shape(graph.type(node.operands[1]));
  const Shape data = static_shape(graph.type(node.operands[0]));
  int64_t axis = node.as<GatherAttrs>().axis;
  if (axis < 0) axis += static_cast<int64_t>(data.size());
  const int64_t size = data[static_cast<size_t>(axis)];
  std::vector<int64_t> indices = numbers_of(graph, node, 1);
  if (indices.empty()) return std::nullopt;
  for (int64_t& index : indices) {
    if (index < 0) index += size;
    if (index < 0 || index >= size) return std::nullopt;
  }
  EvenIndices even{.start = indices[0], .steps = std::vector<int64_t>(shape.size())};
  size_t inner = 1;
  for (size_t a = shape.size(); a-- > 0; inner *= static_cast<size_t>(shape[a]))
    if (shape[a] > 1) even.steps[a] = indices[inner] - indices[0];
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t expected = even.start;
    size_t rest = i;
    for (size_t a = shape.size(); a-- > 0; rest /= static_cast<size_t>(shape[a]))
      expected += static_cast<int64_t>(rest % static_cast<size_t>(shape[a])) * even.steps[a];
    if (indices[i] != expected) return std::nullopt;
  }
  return even;
}

Place gathered(const Graph& graph, const Node& node, const Place& from) {
  const EvenIndices even = even_indices(graph, node).value();
  int64_t axis = node.as<GatherAttrs>().axis;
  if (axis < 0) axis += from.view.rank;
  const auto a = static_cast<size_t>(axis);
  const Shape shape = static_shape(node.types[0]);
  Place to = moved(from, a, even.start);
  to.view.rank = static_cast<int>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    to.view.sizes[i] = shape[i];
    if (i < a)
      to.view.strides[i] = from.view.strides[i];
    else if (i < a + even.steps.size())
      to.view.strides[i] = even.steps[i - a] * from.view.strides[a];
    else
      to.view.strides[i] = from.view.strides[i - even.steps.size() + 1];
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
    case Op::Gather: return even_indices(graph, node).has_value();
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
    case Op::Gather: return builder.set_place({n, 0}, gathered(builder.graph(), node, from));
    case Op::BroadcastTo: return builder.set_place({n, 0}, broadcast(from, shape));
    case Op::Split: return lower_split(builder, n, from);
    default: return builder.set_place({n, 0}, reshaped_place(builder, from, shape));
  }
}

}  // namespace ingot::cpu
