#include "kernel/llvm/reduction_walk.h"

namespace ingot::kernel {

using Values = FunctionEmitter::Values;

namespace {

size_t index_of(int32_t i) { return static_cast<size_t>(i); }

std::vector<bool> depend_on_folds(const LoopNest& nest) {
  std::vector<bool> result;
  for (const Expr& e : nest.exprs)
    result.push_back(e.kind == ExprKind::reduce ||
                     std::ranges::any_of(e.args, [&](int32_t arg) { return result[index_of(arg)]; }));
  return result;
}

}  // namespace

ReductionWalk::ReductionWalk(NestFrame& frame, const Walks& walks, int32_t number, llvm::Value* slot_bytes)
    : frame_(frame), nest_(frame.nest()), walks_(walks), number_(number), slot_bytes_(slot_bytes) {
  for (size_t i = 0; i < nest_.exprs.size(); ++i) {
    const Expr& e = nest_.exprs[i];
    if (e.kind != ExprKind::reduce || !walks.needed[i] || walks.walk[i] != number) continue;
    folds_.push_back(static_cast<int32_t>(i));
    roots_.push_back(e.args[0]);
  }
  for (size_t s = 0; s < nest_.stores.size() && number + 1 == walks.count; ++s) {
    if (!walks.stored[s]) continue;
    stores_.push_back(nest_.stores[s]);
    roots_.push_back(nest_.stores[s].expr);
  }
}

// A row divided by its own sum or norm is multiplied instead. Other divisions stay exact: quantisation rounds
// quotients.
void ReductionWalk::prepare(Expressions& values) const {
  hoist(values, nest_, roots_, walks_.along);
  const auto folded = depend_on_folds(nest_);
  for (size_t i = 0; i < nest_.exprs.size(); ++i) {
    const Expr& e = nest_.exprs[i];
    if (e.kind != ExprKind::op || e.op != Op::Div || e.dtype != DType::f32 || !walks_.along[i]) continue;
    const size_t divisor = index_of(e.args[1]);
    if (!walks_.along[divisor] && folded[divisor] && walks_.walk[i] <= number_)
      values.multiply_by_reciprocal(static_cast<int32_t>(i));
  }
}

int ReductionWalk::unroll(int limit) const {
  const int weight = weight_inside(nest_, roots_, walks_.along);
  int vectors = weight < 8 ? 4 : weight < 16 ? 2 : 1;
  if (folds_.size() > 2) vectors = std::min(vectors, 2);  // registers
  return std::max(1, std::min(vectors, limit));
}

Values ReductionWalk::identities(int slots) {
  Values result;
  for (int32_t f : folds_) {
    const Expr& e = nest_.exprs[index_of(f)];
    result.insert(result.end(), static_cast<size_t>(slots), fold_identity(frame_.emitter(), e.op, e.dtype));
  }
  return result;
}

llvm::Value* ReductionWalk::fold(int32_t expr, llvm::Value* a, llvm::Value* b) {
  const Expr& e = nest_.exprs[index_of(expr)];
  return emit_fold(frame_.emitter(), e.op, e.dtype, a, b);
}

llvm::Value* ReductionWalk::slot(const Place& place, size_t kept) {
  auto* offset = frame_.builder().CreateMul(slot_bytes_, frame_.emitter().i64(static_cast<int64_t>(kept)));
  return frame_.emitter().at(place.scratch, offset);
}

Values ReductionWalk::step(const Expressions& outside, const Place& place, llvm::Value* mask,
                           Values& accumulators, int slots, int slot_number) {
  auto& emitter = frame_.emitter();
  Expressions values(outside, frame_.leaf(place, mask));
  for (size_t k = 0; k < walks_.kept.size(); ++k)
    if (walks_.kept[k].walk < number_)
      values.set(walks_.kept[k].expr, emitter.load_vector(DType::f32, slot(place, k), nullptr));
  for (size_t f = 0; f < folds_.size(); ++f) {
    const Expr& e = nest_.exprs[index_of(folds_[f])];
    auto* x = values.value(e.args[0]);
    if (mask != nullptr) x = frame_.builder().CreateSelect(mask, x, fold_identity(emitter, e.op, e.dtype));
    auto*& sum = accumulators.at(f * static_cast<size_t>(slots) + static_cast<size_t>(slot_number));
    sum = fold(folds_[f], sum, x);
  }
  for (size_t k = 0; k < walks_.kept.size(); ++k)
    if (walks_.kept[k].walk == number_)
      emitter.store_vector(DType::f32, values.value(walks_.kept[k].expr), slot(place, k), nullptr);
  Values results;
  for (const Store& store : stores_) results.push_back(values.value(store.expr));
  return results;
}

void ReductionWalk::finish_step(const Place& place, llvm::Value* mask, const Values& results) {
  for (size_t s = 0; s < stores_.size(); ++s) frame_.store(stores_[s], place, results[s], mask);
}

Values loop_reduced(NestFrame& frame, const Place& place, size_t end, Values carried,
                    const ReducedBody& body) {
  const auto& axes = frame.nest().axes;
  size_t first = 0;
  while (first < end && !axes[first].reduced) ++first;
  std::function<Values(const Place&, size_t, Values)> from = [&](const Place& here, size_t axis, Values c) {
    if (axis == end) return body(here, std::move(c));
    return frame.emitter().loop(frame.emitter().i64(0), frame.extent(axis), 1, std::move(c),
                                [&](llvm::Value* i, Values inner) {
                                  return from(frame.along(here, axis, i), axis + 1, std::move(inner));
                                });
  };
  return from(place, first, std::move(carried));
}

void store_totals(const LoopNest& nest, const Walks& walks, Expressions& values,
                  const std::function<void(const Store&, llvm::Value*)>& store) {
  Values results(nest.stores.size());
  for (size_t s = 0; s < results.size(); ++s)
    if (!walks.stored[s]) results[s] = values.value(nest.stores[s].expr);
  for (size_t s = 0; s < results.size(); ++s)
    if (results[s] != nullptr) store(nest.stores[s], results[s]);
}

llvm::Value* lay_out_scratch(NestFrame& frame, const Walks& walks, size_t end, llvm::Value* innermost) {
  if (walks.kept.empty()) return nullptr;
  const auto& axes = frame.nest().axes;
  Values strides(axes.size());
  auto* bytes = frame.builder().CreateMul(innermost, frame.emitter().i64(sizeof(float)));
  for (size_t axis = end; axis-- > 0;) {
    if (!axes[axis].reduced) continue;
    strides[axis] = bytes;
    bytes = frame.builder().CreateMul(bytes, frame.extent(axis));
  }
  if (end < axes.size()) strides[end] = frame.emitter().i64(sizeof(float));  // a row itself is walked too
  frame.use_scratch(std::move(strides));
  return bytes;
}

}  // namespace ingot::kernel
