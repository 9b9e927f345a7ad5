// Depthwise convolution and pooling: every column for itself, so rows of `a` are read as vectors.
#include <cstddef>

#include "kernel/llvm/emit_tile.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

class WindowEmitter {
 public:
  explicit WindowEmitter(TileFrame& frame)
      : frame_(frame), emitter_(frame.emitter), builder_(emitter_.builder()), tile_(frame.tile), op_(frame) {}

  Accumulators run(Accumulators results);

 private:
  Values taps_inside(Values carried);
  Values taps_anywhere(Values carried, bool masked);
  Values combine_rows(const Values& rows, llvm::Value* b, Values carried, const Values& masks);
  Values weights(llvm::Value* b);

  TileFrame& frame_;
  FunctionEmitter& emitter_;
  llvm::IRBuilder<>& builder_;
  const TileKernel& tile_;
  WindowOp op_;
  llvm::Value* skipped_ = nullptr;  // bytes of the columns before the tile's
};

Values WindowEmitter::weights(llvm::Value* b) {
  Values columns;
  for (int64_t v = 0; v < tile_.vectors; ++v)
    columns.push_back(op_.load_weight(emitter_.at(b, v * frame_.vector_bytes(tile_.b))));
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
      auto* place = emitter_.at(rows[r], static_cast<int64_t>(v) * frame_.vector_bytes(tile_.a));
      result = op_.combine(op_.load_a(place, masks[v]), columns[v], result);
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

llvm::Value* WindowOp::load_a(llvm::Value* pointer, llvm::Value* mask) {
  auto* value = emitter_.load_vector(tile_.a, pointer, mask);
  if (!is_integer(tile_.a)) return value;
  return emitter_.builder().CreateIntCast(value, emitter_.vector_type(DType::i32),
                                          is_signed_integer(tile_.a));
}

llvm::Value* WindowOp::load_weight(llvm::Value* pointer) {
  if (tile_.kind != TileKind::depthwise) return nullptr;
  auto* weight = emitter_.load_vector(tile_.b, pointer, nullptr);
  return is_integer(tile_.b) ? emitter_.builder().CreateSExt(weight, emitter_.vector_type(DType::i32))
                             : weight;
}

// NaN wins: a comparison with it is false, so the first choice takes a NaN in `a`, the second keeps one in
// `result`.
llvm::Value* WindowOp::larger(llvm::Value* a, llvm::Value* result) {
  auto& builder = emitter_.builder();
  if (is_integer(tile_.a)) return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, result);
  auto* chosen = builder.CreateSelect(builder.CreateFCmpOGT(result, a), result, a);
  return builder.CreateSelect(builder.CreateFCmpUNO(result, result), result, chosen);
}

llvm::Value* WindowOp::combine(llvm::Value* a, llvm::Value* weight, llvm::Value* result) {
  auto& builder = emitter_.builder();
  if (tile_.kind == TileKind::max) return larger(a, result);
  if (tile_.kind == TileKind::depthwise && !is_integer(tile_.a)) return emitter_.fma(a, weight, result);
  if (tile_.kind == TileKind::depthwise) a = builder.CreateMul(a, weight);
  return is_integer(tile_.a) ? builder.CreateAdd(result, a) : builder.CreateFAdd(result, a);
}

Accumulators emit_window(TileFrame& frame, Accumulators results) {
  return WindowEmitter(frame).run(std::move(results));
}

}  // namespace ingot::kernel
