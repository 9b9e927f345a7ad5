#include "device/cpu/routines/copy_plan.h"

namespace ingot::cpu {
namespace {

using Axis = CopyPlan::Axis;

void push(CopyPlan& plan, const Axis& axis) { plan.axes[static_cast<size_t>(plan.rank++)] = axis; }

// One axis where the outer of two walks on from where the inner one ends.
void merge(CopyPlan& plan) {
  const CopyPlan all = std::exchange(plan, {});
  for (int i = 0; i < all.rank; ++i) {
    const Axis& axis = all.axes[static_cast<size_t>(i)];
    Axis* before = plan.rank > 0 ? &plan.axes[static_cast<size_t>(plan.rank - 1)] : nullptr;
    if (before != nullptr && before->from == axis.from * axis.size && before->to == axis.to * axis.size)
      *before = {before->size * axis.size, axis.from, axis.to};
    else
      push(plan, axis);
  }
}

}  // namespace

int64_t CopyPlan::rows() const {
  int64_t n = 1;
  for (int i = 0; i < outer_rank(); ++i) n *= axes[static_cast<size_t>(i)].size;
  return n;
}

CopyPlan plan_copy(const View& from, const View& to) {
  CopyPlan plan;
  for (size_t i = 0; i < static_cast<size_t>(to.rank); ++i) {
    if (to.sizes[i] == 0) plan.empty = true;
    if (to.sizes[i] > 1) push(plan, {to.sizes[i], from.strides[i], to.strides[i]});
  }
  if (plan.empty) return plan;
  if (plan.rank == 0) push(plan, {1, 1, 1});
  const auto begin = plan.axes.begin(), end = begin + plan.rank;
  const auto outer = [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); };
  for (auto i = begin; i != end; ++i)  // std::stable_sort allocates
    std::rotate(std::upper_bound(begin, i, *i, outer), i, i + 1);
  merge(plan);
  if (plan.rank < 2 || plan.last().to != 1 || std::abs(plan.last().from) <= 1) return plan;
  const auto inner = plan.axes.begin() + plan.rank - 1;
  const auto dense = std::find_if(plan.axes.begin(), inner, [](const Axis& a) { return a.from == 1; });
  if (dense == inner) return plan;
  std::rotate(dense, dense + 1, inner);
  plan.transposes = true;
  return plan;
}

StridedWalk<2> walk_rows(const CopyPlan& plan, int64_t start) {
  Strides sizes = {};
  std::array<Strides, 2> strides = {};
  for (size_t i = 0; i < static_cast<size_t>(plan.outer_rank()); ++i) {
    sizes[i] = plan.axes[i].size;
    strides[0][i] = plan.axes[i].from;
    strides[1][i] = plan.axes[i].to;
  }
  return {plan.outer_rank(), sizes, strides, start};
}

}  // namespace ingot::cpu
