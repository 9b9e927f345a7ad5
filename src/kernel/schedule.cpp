#include "kernel/schedule.h"

#include <algorithm>

namespace ingot::kernel {
namespace {

constexpr int kTooDear = 8;  // a load and a store of scratch are cheaper

size_t index_of(int32_t i) { return static_cast<size_t>(i); }

class WalkPlanner {
 public:
  explicit WalkPlanner(const LoopNest& nest) : nest_(nest) {
    const size_t n = nest.exprs.size();
    walks_.along.resize(n);
    walks_.needed.resize(n);
    find_along();
    find_needed();
    order();
    place_stores();
    for (int32_t w = 0; w < walks_.count; ++w) find_kept(w);
  }

  Walks result() && { return std::move(walks_); }

 private:
  void find_along() {
    for (size_t a = 0; a < nest_.axes.size(); ++a) {
      if (!nest_.axes[a].reduced) continue;
      const auto here = varying(nest_, static_cast<int32_t>(a));
      for (size_t i = 0; i < here.size(); ++i) walks_.along[i] = walks_.along[i] || here[i];
    }
  }

  void find_needed() {
    for (const Store& store : nest_.stores) walks_.needed[index_of(store.expr)] = true;
    for (size_t i = nest_.exprs.size(); i-- > 0;)
      if (walks_.needed[i])
        for (int32_t arg : nest_.exprs[i].args) walks_.needed[index_of(arg)] = true;
  }

  // The value of a reduction is there one walk after its fold.
  void order() {
    for (const Expr& e : nest_.exprs) {
      int32_t earliest = 0;
      for (int32_t arg : e.args) {
        const bool folds = nest_.exprs[index_of(arg)].kind == ExprKind::reduce;
        earliest = std::max(earliest, walks_.walk[index_of(arg)] + (folds ? 1 : 0));
      }
      walks_.walk.push_back(earliest);
      if (e.kind == ExprKind::reduce && walks_.needed[walks_.walk.size() - 1])
        walks_.count = std::max(walks_.count, earliest + 1);
    }
  }

  // What is stored along a row waits for the last walk: it may replace what earlier ones read.
  void place_stores() {
    for (const Store& store : nest_.stores) {
      const auto& strides = nest_.accesses[index_of(store.access)].strides;
      bool along = false;
      for (size_t a = 0; a < strides.size(); ++a) along |= nest_.axes[a].reduced && !strides[a].is(0);
      walks_.stored.push_back(along);
      if (!along) continue;
      const bool folds = nest_.exprs[index_of(store.expr)].kind == ExprKind::reduce;
      walks_.count = std::max(walks_.count, walks_.walk[index_of(store.expr)] + (folds ? 2 : 1));
    }
  }

  void find_kept(int32_t walk) {
    seen_.assign(nest_.exprs.size(), false);
    first_.resize(nest_.exprs.size(), -1);
    for (size_t i = 0; i < nest_.exprs.size(); ++i) {
      const Expr& e = nest_.exprs[i];
      if (e.kind == ExprKind::reduce && walks_.needed[i] && walks_.walk[i] == walk) visit(e.args[0], walk);
    }
    if (walk + 1 < walks_.count) return;
    for (size_t s = 0; s < nest_.stores.size(); ++s)
      if (walks_.stored[s]) visit(nest_.stores[s].expr, walk);
  }

  void visit(int32_t expr, int32_t walk) {
    const size_t i = index_of(expr);
    if (!walks_.along[i] || seen_[i]) return;
    seen_[i] = true;
    if (first_[i] >= 0 && may_be_kept(i)) {
      if (std::ranges::find(walks_.kept, expr, &Walks::Kept::expr) == walks_.kept.end())
        walks_.kept.push_back({expr, first_[i]});
      return;
    }
    if (first_[i] < 0) first_[i] = walk;
    for (int32_t arg : nest_.exprs[i].args) visit(arg, walk);
  }

  bool may_be_kept(size_t i) const {
    const Expr& e = nest_.exprs[i];
    return e.kind == ExprKind::op && e.dtype == DType::f32 && tree_weight(i) >= kTooDear;
  }

  int tree_weight(size_t i) const {
    int sum = weight(nest_.exprs[i]);
    for (int32_t arg : nest_.exprs[i].args)
      if (sum < kTooDear && walks_.along[index_of(arg)]) sum += tree_weight(index_of(arg));
    return sum;
  }

  const LoopNest& nest_;
  Walks walks_;
  std::vector<bool> seen_;
  std::vector<int32_t> first_;  // the walk that computes an expression first
};

}  // namespace

int weight(const Expr& expr) {
  if (expr.kind != ExprKind::op) return expr.kind == ExprKind::load ? 1 : 0;
  switch (expr.op) {
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Pow:
    case Op::Mod: return 40;
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Erf:
    case Op::Gelu:
    case Op::Mish:
    case Op::Softplus: return 20;
    case Op::Exp:
    case Op::Log:
    case Op::Tanh:
    case Op::Sigmoid:
    case Op::Elu:
    case Op::Swish: return 12;
    case Op::Div:
    case Op::Sqrt:
    case Op::Reciprocal: return 4;
    default: return 1;
  }
}

Walks plan_walks(const LoopNest& nest) { return WalkPlanner(nest).result(); }

bool folds_columns(const LoopNest& nest) {
  return nest.axes.back().reduced && !nest.axes[index_of(nest.vector_axis)].reduced;
}

int64_t scratch_bytes(const LoopNest& nest, const int64_t* sizes) {
  const auto kept = static_cast<int64_t>(plan_walks(nest).kept.size());
  if (kept == 0) return 0;
  const bool columns = folds_columns(nest);
  int64_t elements = columns ? kColumnBlock : 1;
  for (size_t a = 0; a < nest.axes.size(); ++a) {
    const Axis& axis = nest.axes[a];
    if (!axis.reduced) continue;
    int64_t extent = axis.extent.param < 0 ? axis.extent.value : sizes[axis.extent.param];
    if (!columns && static_cast<int32_t>(a) == nest.vector_axis)
      extent = (extent + kRowPadding - 1) / kRowPadding * kRowPadding;
    elements *= extent;
  }
  return kept * elements * static_cast<int64_t>(sizeof(float));
}

}  // namespace ingot::kernel
