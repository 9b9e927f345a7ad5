// Depthwise convolution and pooling: every column for itself, so rows of `a` are read as vectors.
#include <cstddef>

#include "kernel/llvm/emit_tile.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

class WindowEmitter {
 public:
  explicit WindowEmitter(TileFrame& frame)
      : frame_(frame), emitter_(frame.emitter), builder_(emitter_.builder()), tile_(frame.tile) {}

  Accumulators run(Accumulators results);

 private:
  Values taps_inside(Values carried);
  Values taps_anywhere(Values carried, bool masked);
  Values combine_rows(const Values& rows, llvm::Value* b, Values carried, const Values& masks);
  Values weights(llvm::Value* b);
  llvm::Value* load_a(llvm::Value* row, size_t vector, llvm::Value* mask);
  llvm::Value* combine(llvm::Value* a, llvm::Value* weight, llvm::Value* result);
  llvm::Value* larger(llvm::Value* a, llvm::Value* result);

  TileFrame& frame_;
  FunctionEmitter& emitter_;
  llvm::IRBuilder<>& builder_;
  const TileKernel& tile_;
  llvm::Value* skipped_ = nullptr;  // bytes of the columns before the tile's
};

llvm::Value* WindowEmitter::load_a(llvm::Value* row, size_t vector, llvm::Value* mask) {
  const int64_t bytes = frame_.vector_bytes(tile_.a);
  auto* value = emitter_.load_vector(tile_.a, emitter_.at(row, static_cast<int64_t>(vector) * bytes), mask);
  if (!is_integer(tile_.a)) return value;
  return builder_.CreateIntCast(value, emitter_.vector_type(DType::i32), is_signed_integer(tile_.a));
}

// NaN wins: a comparison with it is false, so the first choice takes a NaN in `a`, the second keeps one in
// `result`.
llvm::Value* WindowEmitter::larger(llvm::Value* a, llvm::Value* result) {
  if (is_integer(tile_.a)) return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, result);
  auto* chosen = builder_.CreateSelect(builder_.CreateFCmpOGT(result, a), result, a);
  return builder_.CreateSelect(builder_.CreateFCmpUNO(result, result), result, chosen);
}

llvm::Value* WindowEmitter::combine(llvm::Value* a, llvm::Value* weight, llvm::Value* result) {
  if (tile_.kind == TileKind::max) return larger(a, result);
  if (tile_.kind == TileKind::depthwise && !is_integer(tile_.a)) return emitter_.fma(a, weight, result);
  if (tile_.kind == TileKind::depthwise) a = builder_.CreateMul(a, weight);
  return is_integer(tile_.a) ? builder_.CreateAdd(result, a) : builder_.CreateFAdd(result, a);
}

Values WindowEmitter::weights(llvm::Value* b) {
  Values columns(static_cast<size_t>(tile_.vectors), nullptr);
  if (tile_.kind != TileKind::depthwise) return columns;
  const int64_t bytes = frame_.vector_bytes(tile_.b);
  for (size_t v = 0; v < columns.size(); ++v) {
    columns[v] = emitter_.load_vector(tile_.b, emitter_.at(b, static_cast<int64_t>(v) * bytes), nullptr);
    if (is_integer(tile_.b)) columns[v] = builder_.CreateSExt(columns[v], emitter_.vector_type(DType::i32));
  }
  return columns;
}

// Where all taps read the input and all columns are valid: rows stay in registers, a tap is an offset from
// them.
Values WindowEmitter::taps_inside(Values carried) {
  Values rows;
  for (int64_t r = 0; r < tile_.rows; ++r) {
    auto* row = emitter_.at(frame_.a_rows, r * static_cast<int64_t>(sizeof(void*)));
    rows.push_back(emitter_.at(builder_.CreateLoad(builder_.getPtrTy(), row), skipped_));
  }
  constexpr int64_t kTap = sizeof(TileTap);
  auto* first = emitter_.member_pointer(offsetof(TileCall, taps));
  auto* end = builder_.CreateMul(emitter_.member_i64(offsetof(TileCall, tap_count)), emitter_.i64(kTap));
  auto* b = emitter_.member_pointer(offsetof(TileCall, b));
  const Values no_masks(static_cast<size_t>(tile_.vectors), nullptr);
  const auto one = [&](llvm::Value* i, Values values) {
    auto* tap = emitter_.at(first, i);
    const auto offset = [&](size_t member) {
      return builder_.CreateLoad(builder_.getInt64Ty(), emitter_.at(tap, static_cast<int64_t>(member)));
    };
    auto* a_offset = offset(offsetof(TileTap, a));
    Values moved;
    for (auto* row : rows) moved.push_back(emitter_.at(row, a_offset));
    return combine_rows(moved, emitter_.at(b, offset(offsetof(TileTap, b))), std::move(values), no_masks);
  };
  return emitter_.loop(emitter_.i64(0), end, kTap, std::move(carried), one, true);
}

Values WindowEmitter::taps_anywhere(Values carried, bool masked) {
  Values masks(static_cast<size_t>(tile_.vectors), nullptr);
  auto* columns = emitter_.member_i64(offsetof(TileCall, columns));
  for (size_t v = 0; masked && v < masks.size(); ++v)
    masks[v] = emitter_.lane_mask(
        builder_.CreateSub(columns, emitter_.i64(static_cast<int64_t>(v) * emitter_.lanes())));
  const auto one = [&](llvm::Value* i, Values values) {
    TileFrame::Tap at = frame_.tap(i);
    for (auto*& row : at.rows) row = emitter_.at(row, skipped_);
    return combine_rows(at.rows, at.b, std::move(values), masks);
  };
  return emitter_.loop(emitter_.i64(0), emitter_.member_i64(offsetof(TileCall, tap_count)), 1,
                       std::move(carried), one, true);
}

Values WindowEmitter::combine_rows(const Values& rows, llvm::Value* b, Values carried, const Values& masks) {
  const Values columns = weights(b);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t v = 0; v < columns.size(); ++v) {
      auto& result = carried[r * columns.size() + v];
      result = combine(load_a(rows[r], v, masks[v]), columns[v], result);
    }
  return carried;
}

Accumulators WindowEmitter::run(Accumulators results) {
  skipped_ = builder_.CreateMul(emitter_.member_i64(offsetof(TileCall, column)),
                                emitter_.i64(bit_width(tile_.a) / 8));
  auto* whole = builder_.CreateICmpSGE(emitter_.member_i64(offsetof(TileCall, columns)),
                                       emitter_.i64(static_cast<int64_t>(tile_.vectors) * emitter_.lanes()));
  auto* inside = builder_.CreateIsNull(emitter_.member_pointer(offsetof(TileCall, inside)));
  const auto when = [&](llvm::Value* condition, const std::function<Values(Values)>& taps) {
    auto* skips = builder_.CreateZExt(builder_.CreateNot(condition), builder_.getInt64Ty());
    results = emitter_.loop(skips, emitter_.i64(1), 1, std::move(results),
                            [&](llvm::Value*, Values values) { return taps(std::move(values)); });
  };
  when(builder_.CreateAnd(whole, inside), [&](Values v) { return taps_inside(std::move(v)); });
  when(builder_.CreateAnd(whole, builder_.CreateNot(inside)),
       [&](Values v) { return taps_anywhere(std::move(v), false); });
  when(builder_.CreateNot(whole), [&](Values v) { return taps_anywhere(std::move(v), true); });
  return results;
}

}  // namespace

Accumulators emit_window(TileFrame& frame, Accumulators results) {
  return WindowEmitter(frame).run(std::move(results));
}

}  // namespace ingot::kernel
