#include <algorithm>
#include <cstring>

#include "device/cpu/copy.h"
#include "device/cpu/lower_block_product.h"
#include "device/cpu/lower_scatter.h"
#include "device/cpu/plan_builder.h"
#include "device/cpu/routine.h"
#include "device/cpu/static_graph.h"
#include "device/reference/evaluate.h"
#include "ir/numeric.h"
#include "ir/op_info.h"

namespace ingot::cpu {
namespace {

// Runs compiled C++ on views.
class RoutineStep : public Step {
 public:
  RoutineStep(const Routine& routine, const Node& node, std::vector<Place> in, std::vector<Place> out)
      : routine_(routine), node_(node), in_(std::move(in)), out_(std::move(out)) {}

  void run(const Frame& frame) const override {
    std::array<View, kMaxViews> views;
    const size_t count = fill(frame, views);
    const std::span<View> all(views.data(), count);
    routine_.run({node_, all.first(in_.size()), all.subspan(in_.size()), frame.pool, frame.scratch});
  }

  int64_t scratch_bytes() const override { return scratch_; }
  bool shares_scratch() const override { return true; }
  void set_scratch(int64_t bytes) { scratch_ = bytes; }
  std::string describe() const override { return fmt::format("routine {}", to_string(node_.op)); }
  std::vector<int32_t> reads_in_place() const override {
    if (!routine_.changes_copy || !in_[0].lies_like(out_[0])) return {};
    const bool is_read_once = std::ranges::count(in_, in_[0].buffer, &Place::buffer) == 1;
    return is_read_once ? std::vector<int32_t>{in_[0].buffer} : std::vector<int32_t>();
  }

  static constexpr size_t kMaxViews = 64;

 private:
  size_t fill(const Frame& frame, std::array<View, kMaxViews>& views) const {
    size_t count = 0;
    for (const auto* list : {&in_, &out_})
      for (const Place& place : *list) views[count++] = place.is_none() ? kAbsent : frame.view(place);
    return count;
  }

  const Routine& routine_;
  Node node_;
  std::vector<Place> in_;
  std::vector<Place> out_;
  int64_t scratch_ = 0;
};

// Runs the kernel of the reference device on dense tensors.
class ReferenceStep : public Step {
 public:
  ReferenceStep(const Node& node, std::vector<Type> types, std::vector<Place> in, std::vector<Place> out)
      : node_(node), types_(std::move(types)), in_(std::move(in)), out_(std::move(out)) {}

  void run(const Frame& frame) const override {
    std::vector<Datum> operands;
    for (size_t i = 0; i < in_.size(); ++i)
      operands.push_back(in_[i].is_none() ? Datum() : operand(frame, i));
    std::vector<Datum> results = reference::evaluate_node(node_, operands);
    for (size_t i = 0; i < out_.size(); ++i) {
      if (out_[i].is_none()) continue;
      const std::span<const std::byte> bytes = results[i].tensor().bytes();
      std::memcpy(frame.at(out_[i].buffer, out_[i].offset), bytes.data(), bytes.size());
    }
  }

  std::string describe() const override { return fmt::format("reference {}", to_string(node_.op)); }

 private:
  Datum operand(const Frame& frame, size_t i) const {
    const Shape shape = static_shape(types_[i]);
    const size_t bytes = byte_size(types_[i].dtype, element_count(shape));
    return Tensor::share(types_[i].dtype, shape, {frame.at(in_[i].buffer, in_[i].offset), bytes}, nullptr);
  }

  Node node_;
  std::vector<Type> types_;  // of the operands
  std::vector<Place> in_;
  std::vector<Place> out_;
};

// Fills memory with one number.
class FillStep : public Step {
 public:
  FillStep(Place to, double value) : to_(to) { encode_from_f64(to.view.dtype, &value, 1, element_.data()); }
  void run(const Frame& frame) const override { fill(element_.data(), frame.view(to_), frame.pool); }
  std::string describe() const override { return "fill"; }

 private:
  Place to_;
  std::array<std::byte, 8> element_ = {};
};

bool fits_views(const Graph& graph, const Node& node) {
  auto known = [](const Type& type) {
    return type.dims->size() <= kMaxRank && !is_sub_byte(type.dtype) && type.dtype != DType::string;
  };
  for (Value v : node.operands)
    if (!v.is_none() && !known(graph.type(v))) return false;
  return node.operands.size() + node.types.size() <= RoutineStep::kMaxViews &&
         std::ranges::all_of(node.types, known);
}

std::vector<Place> operand_places(PlanBuilder& builder, const Node& node) {
  std::vector<Place> places;
  for (Value v : node.operands) places.push_back(v.is_none() ? Place{} : builder.place(v));
  return places;
}

std::vector<Place> present(const std::vector<Place>& places) {
  std::vector<Place> out;
  std::ranges::copy_if(places, std::back_inserter(out), [](const Place& p) { return !p.is_none(); });
  return out;
}

std::vector<View> views_of(const std::vector<Place>& places) {
  std::vector<View> views;
  for (const Place& place : places) views.push_back(place.is_none() ? kAbsent : place.view);
  return views;
}

void lower_concat(PlanBuilder& builder, int32_t n) {
  const Node& node = builder.node(n);
  int64_t axis = node.as<ConcatAttrs>().axis;
  if (axis < 0) axis += static_cast<int64_t>(node.types[0].dims->size());
  const Place known = builder.home_of({n, 0});
  const Place home = known.is_none() ? builder.allocate({n, 0}) : known;
  builder.set_place({n, 0}, home);
  int64_t start = 0;
  for (Value v : node.operands) {
    const Place& from = builder.place(v);
    Place to = home;
    to.offset += start * home.view.strides[static_cast<size_t>(axis)] * bit_width(home.view.dtype) / 8;
    to.view.sizes = from.view.sizes;
    start += from.view.sizes[static_cast<size_t>(axis)];
    const bool in_place = from.buffer == to.buffer && from.offset == to.offset;
    if (!in_place && from.view.count() > 0) add_copy(builder, node, from, to);
  }
}

// Resampling keeps the layout of what it reads.
std::vector<int> routine_order(const Node& node, const std::vector<Place>& in) {
  return node.op == Op::Resize ? axis_order(in[0].view) : std::vector<int>();
}

bool lower_compiled(PlanBuilder& builder, int32_t n) {
  const Node& node = builder.node(n);
  const Routine* routine = find_routine(node.op);
  if (!routine || !fits_views(builder.graph(), node)) return false;
  std::vector<Place> in = operand_places(builder, node);
  std::vector<View> in_views = views_of(in);
  std::vector<View> out_views;
  for (const Type& type : node.types)
    out_views.push_back(dense_view(type.dtype, static_shape(type), nullptr));
  const RoutineCall probe{node, in_views, out_views, builder.workshop().pool};
  if (!routine->supports(probe)) return false;
  std::vector<Place> out;
  for (size_t i = 0; i < node.types.size(); ++i) {
    out.push_back(builder.allocate({n, static_cast<int32_t>(i)}, routine_order(node, in)));
    builder.set_place({n, static_cast<int32_t>(i)}, out.back());
    out_views[i] = out.back().view;
  }
  auto step = std::make_unique<RoutineStep>(*routine, node, in, out);
  if (routine->scratch_bytes) step->set_scratch(routine->scratch_bytes(probe));
  builder.add_step(std::move(step), node, present(in), out);
  return true;
}

Place dense_operand(PlanBuilder& builder, Value v) {
  const Place& place = builder.place(v);
  const bool dense = builder.graph().type(v).dims->size() > kMaxRank || place.view.is_dense();
  return dense ? place : builder.dense_copy(place);
}

void lower_reference(PlanBuilder& builder, int32_t n) {
  const Node& node = builder.node(n);
  std::vector<Place> in;
  std::vector<Type> types;
  for (Value v : node.operands) {
    types.push_back(v.is_none() ? Type{} : builder.graph().type(v));
    in.push_back(v.is_none() ? Place{} : dense_operand(builder, v));
  }
  std::vector<Place> out;
  for (size_t i = 0; i < node.types.size(); ++i) {
    const Place temporary = builder.allocate_dense(node.types[i]);
    out.push_back(temporary);
    builder.set_place({n, static_cast<int32_t>(i)}, temporary);
  }
  ++builder.plan().reference_nodes;
  builder.add_step(std::make_unique<ReferenceStep>(node, types, in, out), node, present(in), out);
}

}  // namespace

void lower_routine(PlanBuilder& builder, const Group& group) {
  const int32_t n = group.root();
  const Node& node = builder.node(n);
  if (node.op == Op::Concat && fits_views(builder.graph(), node)) return lower_concat(builder, n);
  if (lower_block_product(builder, n) || lower_slice_update(builder, n)) return;
  if (!lower_compiled(builder, n)) lower_reference(builder, n);
}

void add_fill(PlanBuilder& builder, const Node& node, const Place& to, double value) {
  builder.add_step(std::make_unique<FillStep>(to, value), node, {}, std::span(&to, 1));
}

}  // namespace ingot::cpu
