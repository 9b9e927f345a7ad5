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
  Values taps(Values carried, bool masked);
  Values tap(llvm::Value* index, Values carried, const Values& masks);
  Values weights(llvm::Value* b);
  llvm::Value* load_a(llvm::Value* row, size_t vector, llvm::Value* mask);
  llvm::Value* combine(llvm::Value* a, llvm::Value* weight, llvm::Value* result);
  llvm::Value* larger(llvm::Value* a, llvm::Value* result);

  TileFrame& frame_;
  FunctionEmitter& emitter_;
  llvm::IRBuilder<>& builder_;
  const TileKernel& tile_;
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

Values WindowEmitter::tap(llvm::Value* index, Values carried, const Values& masks) {
  TileFrame::Tap at = frame_.tap(index);
  const Values columns = weights(at.b);
  auto* skipped = builder_.CreateMul(emitter_.member_i64(offsetof(TileCall, column)),
                                     emitter_.i64(bit_width(tile_.a) / 8));
  for (size_t r = 0; r < at.rows.size(); ++r) {
    auto* row = emitter_.at(at.rows[r], skipped);
    for (size_t v = 0; v < columns.size(); ++v) {
      auto& result = carried[r * columns.size() + v];
      result = combine(load_a(row, v, masks[v]), columns[v], result);
    }
  }
  return carried;
}

Values WindowEmitter::taps(Values carried, bool masked) {
  Values masks(static_cast<size_t>(tile_.vectors), nullptr);
  auto* columns = emitter_.member_i64(offsetof(TileCall, columns));
  for (size_t v = 0; masked && v < masks.size(); ++v)
    masks[v] = emitter_.lane_mask(
        builder_.CreateSub(columns, emitter_.i64(static_cast<int64_t>(v) * emitter_.lanes())));
  auto* count = emitter_.member_i64(offsetof(TileCall, tap_count));
  return emitter_.loop(
      emitter_.i64(0), count, 1, std::move(carried),
      [&](llvm::Value* i, Values values) { return tap(i, std::move(values), masks); }, true);
}

Accumulators WindowEmitter::run(Accumulators results) {
  Values carried = std::move(results);
  auto* whole = builder_.CreateICmpSGE(emitter_.member_i64(offsetof(TileCall, columns)),
                                       emitter_.i64(static_cast<int64_t>(tile_.vectors) * emitter_.lanes()));
  auto* is_whole = builder_.CreateZExt(whole, builder_.getInt64Ty());
  auto* is_ragged = builder_.CreateSub(emitter_.i64(1), is_whole);
  const auto* entered = &is_ragged;
  for (const bool masked : {false, true}) {
    carried = emitter_.loop(*entered, emitter_.i64(1), 1, std::move(carried),
                            [&](llvm::Value*, Values values) { return taps(std::move(values), masked); });
    entered = &is_whole;
  }
  return carried;
}

}  // namespace

Accumulators emit_window(TileFrame& frame, Accumulators results) {
  return WindowEmitter(frame).run(std::move(results));
}

}  // namespace ingot::kernel
