#include "kernel/llvm/nest_frame.h"

#include <llvm/IR/Constants.h>

#include "kernel/schedule.h"

namespace ingot::kernel {

NestFrame::NestFrame(FunctionEmitter& emitter, const LoopNest& nest)
    : emitter_(emitter),
      nest_(nest),
      sizes_(emitter.member_pointer(offsetof(KernelCall, sizes))),
      begin_(emitter.member_i64(offsetof(KernelCall, begin))),
      end_(emitter.member_i64(offsetof(KernelCall, end))),
      scratch_strides_(nest.axes.size()) {
  for (const Axis& axis : nest.axes) {
    extents_.push_back(number(axis.extent));
    start_.index.push_back(emitter.i64(0));
  }
  auto* memory = emitter.member_pointer(offsetof(KernelCall, memory));
  for (const Access& access : nest.accesses) {
    const auto a = static_cast<int64_t>(strides_.size());
    start_.pointer.push_back(builder().CreateLoad(builder().getPtrTy(), emitter.at(memory, a * 8)));
    auto& strides = strides_.emplace_back();
    for (const Size& stride : access.strides) {
      auto* bytes = builder().CreateMul(number(stride), emitter.i64(bit_width(access.dtype) / 8));
      strides.push_back(stride.is(0) ? nullptr : bytes);
    }
  }
}

void NestFrame::use_scratch(FunctionEmitter::Values strides) {
  start_.scratch = emitter_.member_pointer(offsetof(KernelCall, scratch));
  scratch_strides_ = std::move(strides);
}

llvm::Value* NestFrame::number(const Size& size) {
  if (size.param < 0) return emitter_.i64(size.value);
  return builder().CreateLoad(builder().getInt64Ty(), emitter_.at(sizes_, int64_t{size.param} * 8));
}

Place NestFrame::along(const Place& place, size_t axis, llvm::Value* i) {
  Place result = place;
  result.index[axis] = i;
  for (size_t a = 0; a < strides_.size(); ++a)
    if (auto* bytes = strides_[a][axis])
      result.pointer[a] = emitter_.at(place.pointer[a], builder().CreateMul(i, bytes));
  if (auto* bytes = scratch_strides_[axis])
    result.scratch = emitter_.at(place.scratch, builder().CreateMul(i, bytes));
  return result;
}

Place NestFrame::further(const Place& place, size_t axis, int64_t steps) {
  if (steps == 0) return place;
  auto* i = emitter_.i64(steps);
  Place result = along(place, axis, i);
  result.index[axis] = builder().CreateAdd(place.index[axis], i);
  return result;
}

Expressions::Leaf NestFrame::leaf(const Place& place, llvm::Value* mask) {
  return [this, place, mask](int32_t expr) {
    const Expr& e = nest_.exprs.at(static_cast<size_t>(expr));
    return e.kind == ExprKind::index ? index(static_cast<size_t>(e.source), place) : load(e, place, mask);
  };
}

llvm::Value* NestFrame::load(const Expr& e, const Place& place, llvm::Value* mask) {
  const auto access = static_cast<size_t>(e.source);
  const auto axis = static_cast<size_t>(nest_.vector_axis);
  const DType dtype = nest_.accesses[access].dtype;
  auto* pointer = place.pointer[access];
  const Size& stride = nest_.accesses[access].strides[axis];
  if (stride.is(0)) return emitter_.splat(emitter_.load_scalar(dtype, pointer));
  if (stride.is(1)) return emitter_.load_vector(dtype, pointer, mask);
  return emitter_.load_strided(dtype, pointer, strides_[access][axis], mask);
}

llvm::Value* NestFrame::index(size_t axis, const Place& place) {
  auto* first = emitter_.splat(place.index[axis]);
  if (axis != static_cast<size_t>(nest_.vector_axis)) return first;
  llvm::SmallVector<llvm::Constant*> lane_numbers;
  for (int lane = 0; lane < lanes(); ++lane)
    lane_numbers.push_back(builder().getInt64(static_cast<uint64_t>(lane)));
  return builder().CreateAdd(first, llvm::ConstantVector::get(lane_numbers));
}

void NestFrame::store(const Store& store, const Place& place, llvm::Value* value, llvm::Value* mask) {
  const auto access = static_cast<size_t>(store.access);
  const auto axis = static_cast<size_t>(nest_.vector_axis);
  const DType dtype = nest_.accesses[access].dtype;
  auto* pointer = place.pointer[access];
  const Size& stride = nest_.accesses[access].strides[axis];
  if (stride.is(0)) {  // the only element along the axis: of the first lane, where there is one
    auto* element = builder().CreateExtractElement(value, uint64_t{0});
    if (mask == nullptr) return emitter_.store_scalar(dtype, element, pointer);
    return emitter_.if_then(builder().CreateExtractElement(mask, uint64_t{0}),
                            [&] { emitter_.store_scalar(dtype, element, pointer); });
  }
  if (stride.is(1)) return emitter_.store_vector(dtype, value, pointer, mask);
  emitter_.store_strided(dtype, value, pointer, strides_[access][axis], mask);
}

std::optional<size_t> last_parallel_axis(const LoopNest& nest) {
  for (size_t axis = nest.axes.size(); axis-- > 0;)
    if (!nest.axes[axis].reduced) return axis;
  return std::nullopt;
}

namespace {

using Values = FunctionEmitter::Values;

// Indexes of the first axes at a position in their row-major space.
Values indexes_at(NestFrame& frame, llvm::Value* position, size_t axes) {
  auto& b = frame.builder();
  Values indexes(axes);
  for (size_t axis = axes - 1; axis > 0; --axis) {
    auto* quotient = b.CreateUDiv(position, frame.extent(axis));
    indexes[axis] = b.CreateSub(position, b.CreateMul(quotient, frame.extent(axis)));
    position = quotient;
  }
  indexes[0] = position;
  return indexes;
}

// One step on, as an odometer turns.
Values next_indexes(NestFrame& frame, Values indexes) {
  auto& b = frame.builder();
  llvm::Value* carry = frame.emitter().i64(1);
  for (size_t axis = indexes.size() - 1; axis > 0; --axis) {
    auto* next = b.CreateAdd(indexes[axis], carry);
    auto* turns = b.CreateICmpEQ(next, frame.extent(axis));
    indexes[axis] = b.CreateSelect(turns, frame.emitter().i64(0), next);
    carry = b.CreateZExt(turns, b.getInt64Ty());
  }
  indexes[0] = b.CreateAdd(indexes[0], carry);
  return indexes;
}

}  // namespace

void walk_space(NestFrame& frame, Range positions, size_t axes,
                const std::function<void(const Place&, llvm::Value*)>& body) {
  auto turn = [&](llvm::Value* position, Values indexes) {
    Place place = frame.start();
    for (size_t axis = 0; axis < axes; ++axis) place = frame.along(place, axis, indexes[axis]);
    body(place, position);
    return axes == 0 ? indexes : next_indexes(frame, indexes);
  };
  Values first = axes == 0 ? Values{} : indexes_at(frame, positions.low, axes);
  frame.emitter().loop(positions.low, positions.high, 1, first, turn, true);
}

void walk_outer(NestFrame& frame, const std::function<void(const Place&, std::optional<Range>)>& body) {
  auto& emitter = frame.emitter();
  const auto last = last_parallel_axis(frame.nest());
  auto* has_work = frame.builder().CreateICmpSLT(frame.begin(), frame.end());
  emitter.if_then(has_work, [&] {
    if (!last) return body(frame.start(), std::nullopt);
    if (*last == 0) return body(frame.start(), Range{frame.begin(), frame.end()});
    walk_space(frame, {frame.begin(), frame.end()}, *last, [&](const Place& place, llvm::Value*) {
      body(place, Range{emitter.i64(0), frame.extent(*last)});
    });
  });
}

void hoist(Expressions& values, const LoopNest& nest, const std::vector<int32_t>& roots,
           const std::vector<bool>& inside) {
  std::vector<bool> wanted(nest.exprs.size());
  for (int32_t root : roots) wanted.at(static_cast<size_t>(root)) = true;
  for (size_t i = nest.exprs.size(); i-- > 0;) {
    if (!wanted[i] || !inside[i] || nest.exprs[i].kind == ExprKind::reduce) continue;
    for (int32_t arg : nest.exprs[i].args) wanted[static_cast<size_t>(arg)] = true;
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] && !inside[i]) values.value(static_cast<int32_t>(i));
}

int weight_inside(const LoopNest& nest, const std::vector<int32_t>& roots, const std::vector<bool>& inside) {
  std::vector<bool> wanted(nest.exprs.size());
  for (int32_t root : roots) wanted.at(static_cast<size_t>(root)) = true;
  int sum = 0;
  for (size_t i = nest.exprs.size(); i-- > 0;) {
    if (!wanted[i] || !inside[i]) continue;
    sum += weight(nest.exprs[i]);
    for (int32_t arg : nest.exprs[i].args) wanted[static_cast<size_t>(arg)] = true;
  }
  return sum;
}

Values walk_vectors(NestFrame& frame, Range range, int unroll, Values carried, const VectorBody& body) {
  auto& emitter = frame.emitter();
  auto& b = frame.builder();
  const int64_t block = int64_t{unroll} * frame.lanes();
  auto* count = b.CreateSub(range.high, range.low);
  auto* whole = b.CreateAdd(range.low, b.CreateAnd(count, emitter.i64(-block)));
  carried = emitter.loop(range.low, whole, block, carried,
                         [&](llvm::Value* i, Values c) { return body(i, unroll, nullptr, std::move(c)); });
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
  const bool is_ragged = known == nullptr || known->getSExtValue() % frame.lanes() != 0;
  return emitter.loop(whole, range.high, frame.lanes(), carried, [&](llvm::Value* i, Values c) {
    return body(i, 1, is_ragged ? emitter.lane_mask(b.CreateSub(range.high, i)) : nullptr, std::move(c));
  });
}

}  // namespace ingot::kernel
