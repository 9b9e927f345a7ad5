#include "device/cpu/groups.h"

#include <algorithm>

#include "device/cpu/lower_attention.h"
#include "device/cpu/lower_tile.h"
#include "device/cpu/lower_view.h"
#include "device/cpu/nest_types.h"
#include "device/cpu/quantised.h"
#include "device/cpu/static_graph.h"
#include "device/cpu/view.h"
#include "ir/op_info.h"

namespace ingot::cpu {
namespace {

constexpr size_t kMaxGroup = 30;  // nodes of one kernel: bounds its compilation time

bool is_reduction(const Node& node) {
  switch (node.op) {
    case Op::ReduceSum:
    case Op::ReduceMean:
    case Op::ReduceProd:
    case Op::ReduceMax:
    case Op::ReduceMin: return true;
    default: return false;
  }
}

bool is_fusable_reduction(const Graph& graph, const Node& node) {
  if (!is_reduction(node) || !in_nests(graph, node) || node.types[0].dtype == DType::boolean) return false;
  if (node.op == Op::ReduceMean && !is_floating(node.types[0].dtype)) return false;
  const bool constant_axes = node.operands.size() < 2 || node.operands[1].is_none() ||
                             constant_of(graph, node.operands[1]) != nullptr;
  return constant_axes && !reduction_axes(graph, node).empty();
}

class Partition {
 public:
  explicit Partition(const Graph& graph)
      : graph_(graph), group_of_(graph.nodes().size(), -1), readers_(graph.nodes().size()) {
    find_readers();
  }

  std::vector<Group> run() {
    for (auto n = static_cast<int32_t>(graph_.nodes().size()); n-- > 0;)
      if (is_needed(n)) place(n);
    for (Group& group : groups_) std::ranges::sort(group.nodes);
    std::ranges::sort(groups_, {}, &Group::root);
    return std::move(groups_);
  }

 private:
  const Node& node(int32_t n) const { return graph_.nodes()[static_cast<size_t>(n)]; }
  Shape shape(int32_t n) const { return static_shape(node(n).types[0]); }

  void find_readers() {
    for (const Port& port : graph_.outputs()) readers_[static_cast<size_t>(port.value.node)].push_back(-1);
    for (size_t n = readers_.size(); n-- > 0;) {
      if (readers_[n].empty()) continue;
      for (Value v : operands_read(graph_, graph_.nodes()[n]))
        if (!v.is_none()) readers_[static_cast<size_t>(v.node)].push_back(static_cast<int32_t>(n));
    }
  }

  bool is_needed(int32_t n) const {
    return !op_info(node(n).op).is(Source) && !readers_[static_cast<size_t>(n)].empty();
  }

  // The group of all readers, or null.
  Group* readers_group(int32_t n) {
    int32_t found = -1;
    for (int32_t reader : readers_[static_cast<size_t>(n)]) {
      const int32_t group = reader < 0 ? -1 : group_of_[static_cast<size_t>(reader)];
      if (group < 0 || (found >= 0 && found != group)) return nullptr;
      found = group;
    }
    return found < 0 ? nullptr : &groups_[static_cast<size_t>(found)];
  }

  void place(int32_t n) {
    Group* group = readers_group(n);
    if (group && group->nodes.size() < kMaxGroup && join(*group, n)) {
      group->nodes.push_back(n);
      group_of_[static_cast<size_t>(n)] = static_cast<int32_t>(group - groups_.data());
      return;
    }
    group_of_[static_cast<size_t>(n)] = static_cast<int32_t>(groups_.size());
    groups_.push_back(start(n));
  }

  Group start(int32_t n) const {
    Group group{.nodes = {n}};
    if (is_view_op(graph_, node(n))) {
      group.kind = GroupKind::view;
    } else if (is_tile_anchor(graph_, node(n))) {
      group.kind = GroupKind::tile;
      group.anchor = n;
      group.domain = shape(n);
    } else if (is_fusable_pointwise(graph_, node(n))) {
      group.kind = GroupKind::nest;
      group.domain = shape(n);
    } else if (is_fusable_reduction(graph_, node(n))) {
      group.kind = GroupKind::nest;
      reduce_over(group, n);
    } else if (node(n).op == Op::Attention && takes_attention(graph_, node(n))) {
      group.kind = GroupKind::attention;
    }
    return group;
  }

  void reduce_over(Group& group, int32_t n) const {
    group.domain = static_shape(graph_.type(node(n).operands[0]));
    group.reduced.assign(group.domain.size(), false);
    for (int64_t axis : reduction_axes(graph_, node(n))) group.reduced[static_cast<size_t>(axis)] = true;
  }

  bool join(Group& group, int32_t n) const {
    if (group.kind == GroupKind::tile) return join_tile(group, n);
    if (group.kind != GroupKind::nest) return false;
    if (is_fusable_reduction(graph_, node(n))) return join_reduction(group, n);
    if (is_fusable_pointwise(graph_, node(n))) return fits_nest(group, n);
    return join_anchor(group, n);
  }

  // What is computed before the epilogue ends, beside the anchor. What is quantised is better read in bytes.
  bool join_tile(const Group& group, int32_t n) const {
    return node(n).op != Op::Quantize && is_fusable_pointwise(graph_, node(n)) && shape(n) == group.domain &&
           !feeds_anchor(group, n);
  }

  bool feeds_anchor(const Group& group, int32_t n) const {
    return std::ranges::any_of(readers_[static_cast<size_t>(n)],
                               [&](int32_t reader) { return reader == group.anchor; });
  }

  bool join_anchor(Group& group, int32_t n) const {
    if (!group.reduced.empty() || !is_tile_anchor(graph_, node(n)) || shape(n) != group.domain) return false;
    if (!accepts_epilogue(graph_, node(n), group.nodes)) return false;
    group.kind = GroupKind::tile;
    group.anchor = n;
    return true;
  }

  // Row kernels need every value to span the domain, or the domain without the reduced axes.
  bool fits_nest(const Group& group, int32_t n) const {
    const Shape own = shape(n);
    if (own == group.domain) return true;
    if (!group.reduced.empty()) return own == folded(group);
    return leads_to_reduction(group, n, 8);
  }

  static Shape folded(const Group& group) {
    Shape shape = group.domain;
    for (size_t i = 0; i < shape.size(); ++i)
      if (group.reduced[i]) shape[i] = 1;
    return shape;
  }

  // Whether the value comes from a reduction of the domain by pointwise nodes alone.
  bool leads_to_reduction(const Group& group, int32_t n, int depth) const {
    if (depth == 0) return false;
    for (Value v : node(n).operands) {
      if (v.is_none() || !readers_within(group, v.node, n)) continue;
      const Node& operand = graph_.node(v);
      if (is_fusable_reduction(graph_, operand) && keeps_rank(operand) &&
          static_shape(graph_.type(operand.operands[0])) == group.domain)
        return true;
      if (is_fusable_pointwise(graph_, operand) && shape(v.node) == shape(n) &&
          leads_to_reduction(group, v.node, depth - 1))
        return true;
    }
    return false;
  }

  bool readers_within(const Group& group, int32_t n, int32_t joining) const {
    return std::ranges::all_of(readers_[static_cast<size_t>(n)], [&](int32_t reader) {
      if (reader == joining) return true;
      return reader >= 0 &&
             group_of_[static_cast<size_t>(reader)] == static_cast<int32_t>(&group - groups_.data());
    });
  }

  bool keeps_rank(const Node& reduction) const {
    return reduction.types[0].dims->size() == graph_.type(reduction.operands[0]).dims->size();
  }

  bool join_reduction(Group& group, int32_t n) const {
    if (group.reduced.empty() && keeps_rank(node(n)) && shape(n) == group.domain) {
      reduce_over(group, n);  // all so far came after the reduction
      return true;
    }
    if (!keeps_rank(node(n)) || static_shape(graph_.type(node(n).operands[0])) != group.domain) return false;
    Group wanted = group;
    reduce_over(wanted, n);
    if (!group.reduced.empty() && group.reduced != wanted.reduced) return false;
    if (group.reduced.empty() && !all_fit(wanted)) return false;
    group.reduced = wanted.reduced;
    return true;
  }

  bool all_fit(const Group& group) const {
    return std::ranges::all_of(group.nodes, [&](int32_t n) {
      const Shape own = shape(n);
      return own == group.domain || own == folded(group);
    });
  }

  const Graph& graph_;
  std::vector<Group> groups_;
  std::vector<int32_t> group_of_;
  std::vector<std::vector<int32_t>> readers_;  // by node; -1: an output of the graph
};

}  // namespace

const Tensor* constant_of(const Graph& graph, Value v) {
  if (v.is_none() || graph.node(v).op != Op::Constant) return nullptr;
  return &graph.node(v).as<ConstantAttrs>().value;
}

std::vector<int64_t> reduction_axes(const Graph& graph, const Node& node) {
  const auto rank = static_cast<int64_t>(graph.type(node.operands[0]).dims->size());
  std::vector<int64_t> axes;
  if (node.operands.size() > 1)
    if (const Tensor* given = constant_of(graph, node.operands[1]))
      for (int64_t axis : given->aligned().data<int64_t>()) axes.push_back(axis < 0 ? axis + rank : axis);
  std::ranges::sort(axes);
  const bool keep = node.op == Op::ReduceMean   ? node.as<ReduceMeanAttrs>().keep_if_no_axes
                    : node.op == Op::ReduceSum  ? node.as<ReduceSumAttrs>().keep_if_no_axes
                    : node.op == Op::ReduceProd ? node.as<ReduceProdAttrs>().keep_if_no_axes
                    : node.op == Op::ReduceMax  ? node.as<ReduceMaxAttrs>().keep_if_no_axes
                                                : node.as<ReduceMinAttrs>().keep_if_no_axes;
  if (axes.empty() && !keep)
    for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

bool is_fusable_pointwise(const Graph& graph, const Node& node) {
  return (op_info(node.op).is(Pointwise) && in_nests(graph, node)) || is_fusable_quantisation(graph, node);
}

std::vector<Group> partition(const Graph& graph) { return Partition(graph).run(); }

}  // namespace ingot::cpu
