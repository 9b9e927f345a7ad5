#include "device/cpu/plan_builder.h"

#include <algorithm>
#include <numeric>

#include "base/paged_memory.h"
#include "base/sha256.h"
#include "device/cpu/derived_weights.h"
#include "device/cpu/quantised.h"
#include "device/cpu/static_graph.h"
#include "ingot/error.h"
#include "ir/op_info.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kSlack = 64;  // readable bytes behind every arena buffer, for whole vectors

std::vector<int> count_readers(const Graph& graph) {
  std::vector<int> readers(graph.nodes().size(), 0);
  for (const Node& node : graph.nodes())
    for (Value v : operands_read(graph, node))
      if (!v.is_none()) ++readers[static_cast<size_t>(v.node)];
  for (const Port& port : graph.outputs()) ++readers[static_cast<size_t>(port.value.node)];
  return readers;
}

// Of memory that holds the elements row by row; tensors of more axes than views have are bytes only.
View row_major_view(const Type& type) {
  const Shape shape = static_shape(type);
  return shape.size() <= kMaxRank ? dense_view(type.dtype, shape, nullptr) : View{.dtype = type.dtype};
}

View ordered_view(DType dtype, const Shape& shape, const std::vector<int>& order) {
  View view = dense_view(dtype, shape, nullptr);
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    view.strides[axis] = step;
    step *= shape[axis];
  }
  return view;
}

}  // namespace

PlanBuilder::PlanBuilder(const Graph& graph, Workshop& workshop, Plan& plan)
    : graph_(graph), workshop_(workshop), plan_(plan), places_(graph.nodes().size()) {
  for (size_t i = 0; i < graph.nodes().size(); ++i) places_[i].resize(graph.nodes()[i].types.size());
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value v = graph.inputs()[i].value;
    const Type& type = graph.type(v);
    const Shape shape = static_shape(type);
    Place place{
        .buffer = add_buffer({.kind = Buffer::Kind::input,
                              .bytes = static_cast<int64_t>(byte_size(type.dtype, element_count(shape))),
                              .slot = static_cast<int64_t>(i)}),
        .view = row_major_view(type)};
    set_place(v, place);
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) outputs_.try_emplace(graph.outputs()[i].value, i);
  find_parts();
}

// An operand of a concatenation that nobody else reads is computed where it will lie.
void PlanBuilder::find_parts() {
  const std::vector<int> readers = count_readers(graph_);
  for (int32_t n = 0; n < static_cast<int32_t>(graph_.nodes().size()); ++n) {
    if (node(n).op != Op::Concat || readers[static_cast<size_t>(n)] == 0) continue;
    if (node(n).types[0].dims->size() > kMaxRank) continue;
    int64_t axis = node(n).as<ConcatAttrs>().axis, start = 0;
    if (axis < 0) axis += static_cast<int64_t>(node(n).types[0].dims->size());
    for (Value v : node(n).operands) {
      if (may_be_part(v, readers)) parts_[v] = {{n, 0}, axis, start};
      start += static_shape(graph_.type(v))[static_cast<size_t>(axis)];
    }
  }
}

bool PlanBuilder::may_be_part(Value v, const std::vector<int>& readers) const {
  const Node& producer = graph_.node(v);
  return readers[static_cast<size_t>(v.node)] == 1 && !op_info(producer.op).is(Source) &&
         !is_view_op(graph_, producer) && !is_sub_byte(producer.types[0].dtype) &&
         producer.types[0].dtype != DType::string;
}

const Place& PlanBuilder::place(Value v) {
  Place& place = places_[static_cast<size_t>(v.node)].at(static_cast<size_t>(v.output));
  if (place.is_none()) {
    const Tensor* tensor = constant_of(graph_, v);
    if (!tensor)
      throw Error({.code = ErrorCode::internal,
                   .object = "plan",
                   .name = std::string(to_string(graph_.node(v).op)),
                   .expected = "a value computed before it is read",
                   .observed = "none"});
    place = constant(*tensor);
  }
  return place;
}

void PlanBuilder::set_place(Value v, Place place) {
  places_[static_cast<size_t>(v.node)].at(static_cast<size_t>(v.output)) = place;
}

int32_t PlanBuilder::add_buffer(Buffer buffer) {
  plan_.buffers.push_back(buffer);
  return static_cast<int32_t>(plan_.buffers.size()) - 1;
}

Place PlanBuilder::constant(const Tensor& given) {
  auto tensor = std::make_shared<const Tensor>(given.aligned());
  plan_.keep.push_back(tensor);
  Place place{.buffer = add_buffer({.kind = Buffer::Kind::constant,
                                    .bytes = static_cast<int64_t>(tensor->bytes().size()),
                                    .memory = const_cast<std::byte*>(tensor->bytes().data())})};
  if (tensor->rank() <= kMaxRank) place.view = dense_view(tensor->dtype(), tensor->shape(), nullptr);
  return place;
}

Place PlanBuilder::derived(Value weights) {
  const Type& type = graph_.type(weights);
  const Place place{.buffer = add_buffer({.kind = Buffer::Kind::constant}),
                    .view = dense_view(type.dtype, static_shape(type), nullptr)};
  derived_[place.buffer] = weights;
  return place;
}

std::string PlanBuilder::weight_name(const Place& place) {
  const Buffer buffer = plan_.buffers[static_cast<size_t>(place.buffer)];
  std::string name = fmt::format("+{}", place.offset);
  for (int i = 0; i < place.view.rank; ++i)
    name += fmt::format(",{}:{}", place.view.sizes[static_cast<size_t>(i)],
                        place.view.strides[static_cast<size_t>(i)]);
  if (auto derived = derived_.find(place.buffer); derived != derived_.end())
    return derived_name(graph_, derived->second, [&](Value v) { return weight_name(this->place(v)); }) + name;
  auto found = workshop_.weight_names.find(buffer.memory);
  if (found != workshop_.weight_names.end()) return found->second + name;
  return to_hex(sha256(std::span(buffer.memory, static_cast<size_t>(buffer.bytes)))) + name;
}

std::shared_ptr<const std::byte> PlanBuilder::content(const Place& place) const {
  auto derived = derived_.find(place.buffer);
  const std::byte* memory = plan_.buffers[static_cast<size_t>(place.buffer)].memory;
  if (derived == derived_.end()) return {std::shared_ptr<const void>(), memory};
  const auto tensor = std::make_shared<const Tensor>(derive_weights(graph_, derived->second).aligned());
  return {tensor, tensor->bytes().data()};
}

Place PlanBuilder::allocate_arena(DType dtype, const Shape& shape, const std::vector<int>& order) {
  const auto bytes = static_cast<int64_t>(byte_size(dtype, element_count(shape)));
  return {.buffer = add_buffer({.kind = Buffer::Kind::arena, .bytes = bytes + kSlack, .slack = kSlack}),
          .view = ordered_view(dtype, shape, order)};
}

Place PlanBuilder::allocate_dense(const Type& type) {
  const Shape shape = static_shape(type);
  if (shape.size() <= kMaxRank && !is_sub_byte(type.dtype)) return allocate_arena(type.dtype, shape);
  return {.buffer =
              add_buffer({.kind = Buffer::Kind::arena,
                          .bytes = static_cast<int64_t>(byte_size(type.dtype, element_count(shape))) + kSlack,
                          .slack = kSlack}),
          .view = row_major_view(type)};
}

Place PlanBuilder::output_place(size_t output, const Type& type) {
  const Shape shape = static_shape(type);
  const Place place{
      .buffer = add_buffer({.kind = Buffer::Kind::output,
                            .bytes = static_cast<int64_t>(byte_size(type.dtype, element_count(shape))),
                            .slot = static_cast<int64_t>(output)}),
      .view = row_major_view(type)};
  plan_.output_buffers[output] = place.buffer;
  return place;
}

Place PlanBuilder::allocate(Value v, const std::vector<int>& order) {
  const Type& type = graph_.type(v);
  auto output = outputs_.find(v);
  if (output != outputs_.end()) return output_place(output->second, type);
  auto part = parts_.find(v);
  if (part == parts_.end()) return allocate_arena(type.dtype, static_shape(type), order);
  const Value whole = part->second.whole;
  Place& home = places_[static_cast<size_t>(whole.node)][static_cast<size_t>(whole.output)];
  if (home.is_none()) home = allocate(whole, order);
  Place place = home;
  const auto axis = static_cast<size_t>(part->second.axis);
  place.offset += part->second.start * place.view.strides[axis] * bit_width(type.dtype) / 8;
  place.view.sizes[axis] = static_shape(type)[axis];
  return place;
}

Place PlanBuilder::dense_copy(const Place& from, const std::vector<int>& order) {
  Place to = allocate_arena(from.view.dtype,
                            Shape(from.view.sizes.begin(), from.view.sizes.begin() + from.view.rank), order);
  add_copy(*this, graph_.nodes()[0], from, to);
  return to;
}

void PlanBuilder::add_step(std::unique_ptr<Step> step, const Node& node, std::span<const Place> reads,
                           std::span<const Place> writes) {
  step->name = node.origin.empty() ? std::string(to_string(node.op)) : node.origin;
  for (const Place& place : reads) {
    step->reads.push_back(place.buffer);
    step->read_views.push_back(place.view);
  }
  for (const Place& place : writes) {
    step->writes.push_back(place.buffer);
    step->write_views.push_back(place.view);
  }
  plan_.steps.push_back(std::move(step));
}

std::vector<int> axis_order(const View& view) {
  std::vector<int> order(static_cast<size_t>(view.rank));
  std::iota(order.begin(), order.end(), 0);
  bool ordered = true;
  int64_t last = INT64_MAX;
  for (int i = 0; i < view.rank; ++i) {
    const auto axis = static_cast<size_t>(i);
    if (view.sizes[axis] == 1) continue;
    ordered = ordered && std::abs(view.strides[axis]) <= last;
    last = std::abs(view.strides[axis]);
  }
  if (ordered) return order;
  std::ranges::stable_sort(order, [&](int a, int b) {
    return std::abs(view.strides[static_cast<size_t>(a)]) > std::abs(view.strides[static_cast<size_t>(b)]);
  });
  return order;
}

std::vector<int> channels_last(int rank) {
  std::vector<int> order = {0};
  for (int i = 2; i < rank; ++i) order.push_back(i);
  order.push_back(1);
  return order;
}

namespace {

void lower(PlanBuilder& builder, const Group& group) {
  switch (group.kind) {
    case GroupKind::view: return lower_view(builder, group);
    case GroupKind::nest: return lower_nest(builder, group);
    case GroupKind::tile: return lower_tile(builder, group);
    case GroupKind::attention: return lower_attention(builder, group);
    case GroupKind::routine: return lower_routine(builder, group);
  }
}

// Outputs that are views, constants, inputs or other outputs get their own memory.
void copy_outputs(PlanBuilder& builder) {
  const Graph& graph = builder.graph();
  Plan& plan = builder.plan();
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value v = graph.outputs()[i].value;
    plan.output_shapes.push_back(static_shape(graph.type(v)));
    if (plan.output_buffers[i] >= 0) continue;
    const Type& type = graph.type(v);
    const Place to{.buffer = builder.add_buffer({.kind = Buffer::Kind::output,
                                                 .bytes = static_cast<int64_t>(byte_size(
                                                     type.dtype, element_count(static_shape(type)))),
                                                 .slot = static_cast<int64_t>(i)}),
                   .view = row_major_view(type)};
    plan.output_buffers[i] = to.buffer;
    add_copy(builder, graph.node(v), builder.place(v), to);
  }
}

// Of what was read to be packed, and of what was packed.
void drop_constants(const Plan& plan, size_t first, const WeightStream& stream) {
  for (const Buffer& buffer : std::span(plan.buffers).subspan(first)) {
    if (buffer.kind != Buffer::Kind::constant) continue;
    const std::span bytes(buffer.memory, static_cast<size_t>(buffer.bytes));
    if (stream.is_streamable(bytes)) drop_pages(bytes);
  }
}

void check_workspace(const Plan& plan, uint64_t limit) {
  for (const std::unique_ptr<Step>& step : plan.steps) {
    if (step->scratch < 0) continue;
    const int64_t bytes = plan.buffers[static_cast<size_t>(step->scratch)].bytes;
    if (static_cast<uint64_t>(bytes) <= limit) continue;
    throw Error({.code = ErrorCode::out_of_memory,
                 .object = "workspace of step",
                 .name = step->name,
                 .expected = fmt::format("at most {} bytes of scratch, the workspace limit", limit),
                 .observed = fmt::format("{} bytes, for {}", bytes, step->describe()),
                 .remedy = "Raise RuntimeConfig::workspace_limit, or use fewer threads or smaller shapes."});
  }
}

void stream_weights(Plan& plan, WeightStream& stream) {
  Step* before = nullptr;
  for (const std::unique_ptr<Step>& step : plan.steps) {
    std::vector<std::span<const std::byte>> weights;
    for (int32_t read : step->reads) {
      const Buffer& buffer = plan.buffers[static_cast<size_t>(read)];
      if (buffer.kind == Buffer::Kind::constant)
        weights.emplace_back(buffer.memory, static_cast<size_t>(buffer.bytes));
    }
    step->weights = stream.add_step(weights);
    if (before) before->next_weights = step->weights;
    before = step.get();
  }
}

}  // namespace

namespace {

void get_kernels(Plan& plan, Workshop& workshop, const KernelPolicy& policy) {
  if (policy.standbys)
    for (const std::unique_ptr<Step>& step : plan.steps) step->add_standbys();
  if (policy.compile)
    workshop.kernels.prepare(policy.threads == 0 ? workshop.pool.size() : policy.threads, policy.phase);
  else
    workshop.kernels.load();
}

}  // namespace

std::shared_ptr<const Plan> build_plan(const Graph& graph, Workshop& workshop, const KernelPolicy& policy) {
  auto plan = std::make_shared<Plan>();
  plan->output_buffers.assign(graph.outputs().size(), -1);
  PlanBuilder builder(graph, workshop, *plan);
  for (const Group& group : partition(graph)) {
    const size_t first = plan->buffers.size();
    lower(builder, group);
    if (workshop.stream) drop_constants(*plan, first, *workshop.stream);
  }
  copy_outputs(builder);
  get_kernels(*plan, workshop, policy);
  for (const std::unique_ptr<Step>& step : plan->steps) {
    step->link();
    plan->is_generic = plan->is_generic || step->stands_in();
  }
  plan_arena(*plan, workshop.pool.size());
  if (workshop.workspace_limit) check_workspace(*plan, *workshop.workspace_limit);
  if (workshop.stream) stream_weights(*plan, *workshop.stream);
  return plan;
}

}  // namespace ingot::cpu
