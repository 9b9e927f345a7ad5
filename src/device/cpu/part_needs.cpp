#include "device/cpu/part_needs.h"

#include <algorithm>

#include "device/cpu/lowered_ops.h"
#include "device/cpu/static_graph.h"
#include "ir/bind_symbols.h"

namespace ingot::cpu {
namespace {

constexpr size_t kMaxNeeds = 1024;

MemoryNeed need_of(const Plan& plan) {
  return {.bytes = plan.arena_bytes,
          .least_bytes = plan.least_bytes,
          .scratch_bytes = plan.scratch_bytes,
          .value_bytes = plan.value_bytes};
}

// Of inputs whose types name all sizes, as far as their shapes are given.
SymbolSizes bind_sizes(const Graph& graph, std::span<const std::optional<Shape>> inputs) {
  SymbolBinder binder;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = graph.type(graph.inputs()[i].value);
    if (inputs[i] && type.is_ranked()) binder.bind_shape(graph.inputs()[i].name, *type.dims, *inputs[i]);
  }
  return binder.finish();
}

std::optional<Shape> known_shape(const Graph& graph, Value v, const SymbolSizes& sizes,
                                 std::span<const std::optional<Shape>> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (graph.inputs()[i].value == v) return inputs[i];
  const Type& type = graph.type(v);
  if (!type.is_tensor() || !type.is_ranked()) return std::nullopt;
  Shape shape;
  for (const Dim& dim : *type.dims) {
    const std::optional<int64_t> size = evaluate(dim, sizes);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

std::optional<std::vector<Shape>> known_shapes(const Graph& graph, const Part& part, const SymbolSizes& sizes,
                                               std::span<const std::optional<Shape>> inputs) {
  std::vector<Shape> shapes;
  for (Value v : part.inputs) {
    const std::optional<Shape> shape = known_shape(graph, v, sizes, inputs);
    if (!shape) return std::nullopt;
    shapes.push_back(*shape);
  }
  return shapes;
}

}  // namespace

MemoryNeed PartNeeds::find(const std::vector<Shape>& shapes) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = needs_.find(shapes); known != needs_.end()) return known->second;
  }
  const MemoryNeed need = measure(shapes);
  const std::lock_guard lock(mutex_);
  if (needs_.size() >= kMaxNeeds) needs_.clear();
  return needs_[shapes] = need;
}

void PartNeeds::add(const std::vector<Shape>& shapes, const Plan& plan) {
  const std::lock_guard lock(mutex_);
  if (needs_.size() >= kMaxNeeds) needs_.clear();
  needs_[shapes] = need_of(plan);
}

MemoryNeed PartNeeds::measure(const std::vector<Shape>& shapes) const {
  const Graph graph = make_static(part_.graph, shapes, {}, lowers_whole);
  for (const Node& node : graph.nodes())
    if (!std::ranges::all_of(node.types, is_static)) return {.is_complete = false};
  KernelSet kernels = KernelSet::without_code(workshop_.target);
  const auto weights = PackedWeights::without_content();
  Workshop measuring{workshop_.target, kernels, *weights, workshop_.pool, workshop_.weight_names};
  return need_of(*build_plan(graph, measuring));
}

MemoryNeed memory_need(const Graph& graph, const Parts& parts,
                       std::span<const std::unique_ptr<PartNeeds>> needs,
                       std::span<const std::optional<Shape>> inputs) {
  const SymbolSizes sizes = bind_sizes(graph, inputs);
  MemoryNeed most;
  for (size_t i = 0; i < parts.parts.size(); ++i) {
    const auto shapes = known_shapes(graph, parts.parts[i], sizes, inputs);
    const MemoryNeed need = shapes ? needs[i]->find(*shapes) : MemoryNeed{.is_complete = false};
    const bool is_complete = most.is_complete && need.is_complete;
    if (need.bytes > most.bytes) most = need;
    most.is_complete = is_complete;
  }
  // Bodies of control flow compute in memory of their own.
  for (const Stage& stage : parts.stages)
    if (stage.node >= 0 && !graph.nodes()[static_cast<size_t>(stage.node)].subgraphs.empty())
      most.is_complete = false;
  return most;
}

}  // namespace ingot::cpu
