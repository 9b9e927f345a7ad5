#include "device/cpu/lower_attention.h"

#include <algorithm>
#include <cmath>

#include "device/cpu/attention_step.h"
#include "device/cpu/plan_builder.h"
#include "device/cpu/static_graph.h"

namespace ingot::cpu {
namespace {

enum Operand : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

Value operand(const Node& node, size_t i) { return i < node.operands.size() ? node.operands[i] : Value(); }

bool is_read(const Graph& graph, Value v) {
  for (const Node& node : graph.nodes())
    if (std::ranges::find(node.operands, v) != node.operands.end()) return true;
  return std::ranges::find(graph.outputs(), v, &Port::value) != graph.outputs().end();
}

bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

bool is_plain(const Graph& graph, Value v) {
  const Type& type = graph.type(v);
  return is_static(type) && type.dims->size() == 4 && is_real(type.dtype);
}

// Whether a mask stretches over scores of these sizes, with a column for each key.
bool mask_fits(const Graph& graph, Value mask, const Shape& scores) {
  if (mask.is_none()) return true;
  const Type& type = graph.type(mask);
  if (!is_static(type) || (type.dtype != DType::boolean && !is_real(type.dtype))) return false;
  const Shape shape = static_shape(type);
  if (shape.empty() || shape.size() > scores.size() || shape.back() != scores.back()) return false;
  const size_t lead = scores.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && shape[i] != scores[lead + i]) return false;
  return true;
}

Place stretched(const Place& from, const Shape& shape) {
  Place to = from;
  to.view.rank = static_cast<int>(shape.size());
  const size_t lead = shape.size() - static_cast<size_t>(from.view.rank);
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool own = i >= lead && from.view.sizes[i - lead] != 1;
    to.view.sizes[i] = shape[i];
    to.view.strides[i] = own ? from.view.strides[i - lead] : 0;
  }
  return to;
}

class AttentionLowering {
 public:
  AttentionLowering(PlanBuilder& builder, int32_t n)
      : builder_(builder), n_(n), node_(builder.node(n)), attrs_(node_.as<AttentionAttrs>()) {}

  void run() {
    place_rows();
    AttentionSizes& sizes = work_.sizes;
    const Shape query = shape(kQuery);
    sizes.batch = query[0];
    sizes.heads = shape(kKey)[1];
    sizes.group = query[1] / sizes.heads;
    sizes.queries = query[2];
    sizes.size = query[3];
    sizes.value_size = shape(kValue)[3];
    work_.query = with_dense_rows(as_f32(place(kQuery)));
    place_mask();
    if (!operand(node_, kLengths).is_none()) work_.lengths = place(kLengths);
    work_.scale = attrs_.scale != 0 ? attrs_.scale : 1 / std::sqrt(static_cast<double>(sizes.size));
    work_.softcap = attrs_.softcap;
    work_.causal = attrs_.causal;
    work_.window = attrs_.window;
    finish();
  }

 private:
  Shape shape(size_t i) const { return static_shape(builder_.graph().type(operand(node_, i))); }
  const Place& place(size_t i) { return builder_.place(operand(node_, i)); }

  Place as_f32(const Place& from) {
    if (from.view.dtype == DType::f32) return from;
    const Place to = builder_.allocate_arena(
        DType::f32, Shape(from.view.sizes.begin(), from.view.sizes.begin() + from.view.rank),
        axis_order(from.view));
    add_copy(builder_, node_, from, to);
    return to;
  }

  Place with_dense_rows(const Place& from) {
    return from.view.strides[3] == 1 || from.view.sizes[3] == 1 ? from : builder_.dense_copy(from);
  }

  // A cache that somebody reads is joined in memory; another is read where it lies.
  void place_rows() {
    work_.keys = rows_of(kKey, kPastKey, 1);
    work_.values = rows_of(kValue, kPastValue, 2);
    for (const Place& segment : work_.keys) work_.sizes.segments.push_back(segment.view.sizes[2]);
    if (!operand(node_, kPastKey).is_none()) work_.past = shape(kPastKey)[2];
  }

  std::vector<Place> rows_of(size_t now, size_t past, int32_t output) {
    if (operand(node_, past).is_none()) {
      builder_.set_place({n_, output}, place(now));
      return {place(now)};
    }
    if (past_is_joined()) return {joined(now, past, output)};
    if (shape(past)[2] == 0) return {place(now)};
    return {place(past), place(now)};
  }

  bool past_is_joined() const {
    return is_read(builder_.graph(), {n_, 1}) || is_read(builder_.graph(), {n_, 2});
  }

  Place joined(size_t now, size_t past, int32_t output) {
    const Place home = builder_.allocate({n_, output});
    builder_.set_place({n_, output}, home);
    Place part = home;
    for (const size_t i : {past, now}) {
      const Place& from = place(i);
      part.view.sizes[2] = from.view.sizes[2];
      if (from.view.count() > 0) add_copy(builder_, node_, from, part);
      part.offset += from.view.sizes[2] * home.view.strides[2] * bit_width(home.view.dtype) / 8;
    }
    return home;
  }

  void place_mask() {
    if (operand(node_, kMask).is_none()) return;
    const AttentionSizes& sizes = work_.sizes;
    Place mask = place(kMask);
    const int64_t step = mask.view.strides[static_cast<size_t>(mask.view.rank) - 1];
    if (step != 1 && step != 0 && sizes.keys() != 1) mask = builder_.dense_copy(mask);
    work_.mask = stretched(mask, {sizes.batch, sizes.heads * sizes.group, sizes.queries, sizes.keys()});
  }

  void finish() {
    // Consumers join the heads of each token.
    const Place home = builder_.allocate({n_, 0}, {0, 2, 1, 3});
    builder_.set_place({n_, 0}, home);
    const bool dense = home.view.strides[3] == 1 || home.view.sizes[3] == 1;
    work_.out = dense ? home : builder_.allocate_dense(node_.types[0]);
    AttentionPlan plan = plan_attention(work_.sizes);
    std::vector<Place> writes = {work_.out};
    if (const int64_t bytes = AttentionStep::parts_bytes(work_.sizes, plan); bytes > 0) {
      work_.parts = builder_.allocate_arena(DType::u8, {bytes});
      writes.push_back(work_.parts);
    }
    std::vector<Place> reads = {work_.query};
    for (const std::vector<Place>* places : {&work_.keys, &work_.values})
      reads.insert(reads.end(), places->begin(), places->end());
    for (const Place* place : {&work_.mask, &work_.lengths})
      if (!place->is_none()) reads.push_back(*place);
    const Place out = work_.out;
    builder_.add_step(
        std::make_unique<AttentionStep>(builder_.workshop().kernels, std::move(work_), std::move(plan)),
        node_, reads, writes);
    if (!dense) add_copy(builder_, node_, out, home);
  }

  PlanBuilder& builder_;
  int32_t n_;
  const Node& node_;
  const AttentionAttrs& attrs_;
  AttentionWork work_;
};

}  // namespace

bool takes_attention(const Graph& graph, const Node& node) {
  const auto n = static_cast<int32_t>(&node - graph.nodes().data());
  for (const size_t i : {kQuery, kKey, kValue, kPastKey, kPastValue})
    if (Value v = operand(node, i); !v.is_none() && !is_plain(graph, v)) return false;
  for (const Type& type : node.types)
    if (!is_static(type) || element_count(static_shape(type)) == 0) return false;
  const Shape q = static_shape(graph.type(node.operands[kQuery])), k = static_shape(node.types[1]),
              v = static_shape(node.types[2]);
  if (k[0] != q[0] || v[0] != q[0] || k[1] != v[1] || q[1] % k[1] != 0 || k[2] != v[2] || k[3] != q[3])
    return false;
  const Value lengths = operand(node, kLengths);
  if (!lengths.is_none() && static_shape(graph.type(lengths)) != Shape{q[0]}) return false;
  return mask_fits(graph, operand(node, kMask), {q[0], q[1], q[2], k[2]}) && !is_read(graph, {n, 3});
}

void lower_attention(PlanBuilder& builder, const Group& group) {
  AttentionLowering(builder, group.root()).run();
}

}  // namespace ingot::cpu
