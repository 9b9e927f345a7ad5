#include "kernel/llvm/emit_tile.h"

#include <cstddef>
#include <limits>

#include "kernel/llvm/emit.h"

namespace ingot::kernel {
namespace {

Accumulators initial(FunctionEmitter& emitter, const TileKernel& tile) {
  const DType dtype = accumulator_dtype(tile);
  const bool is_max = tile.kind == TileKind::max;
  auto* value = emitter.constant(dtype, is_max ? -std::numeric_limits<double>::infinity() : 0.0,
                                 is_max ? std::numeric_limits<int32_t>::min() : 0);
  return Accumulators(accumulator_count(tile), value);
}

llvm::Value* partial_pointer(FunctionEmitter& emitter, llvm::Value* partial, size_t index) {
  return emitter.at(partial, static_cast<int64_t>(index) * emitter.lanes() * 4);
}

// From `partial` where the call continues an earlier one.
Accumulators emit_start(FunctionEmitter& emitter, const TileKernel& tile, llvm::Value* partial) {
  auto* first = emitter.builder().CreateSExt(emitter.member_i32(offsetof(TileCall, first)),
                                             emitter.builder().getInt64Ty());
  return emitter.loop(first, emitter.i64(1), 1, initial(emitter, tile), [&](llvm::Value*, Accumulators sums) {
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = emitter.load_vector(accumulator_dtype(tile), partial_pointer(emitter, partial, i), nullptr);
    return sums;
  });
}

void emit_end(FunctionEmitter& emitter, const TileKernel& tile, llvm::Value* partial,
              const Accumulators& sums) {
  auto* last = emitter.builder().CreateICmpNE(emitter.member_i32(offsetof(TileCall, last)),
                                              emitter.builder().getInt32(0));
  emitter.if_then(last, [&] { emit_tile_epilogue(emitter, tile, sums); });
  emitter.if_then(emitter.builder().CreateNot(last), [&] {
    for (size_t i = 0; i < sums.size(); ++i)
      emitter.store_vector(accumulator_dtype(tile), sums[i], partial_pointer(emitter, partial, i), nullptr);
  });
}

}  // namespace

FunctionEmitter::Values emit_row_pointers(FunctionEmitter& emitter, const TileKernel& tile,
                                          llvm::Value* tap) {
  auto& builder = emitter.builder();
  constexpr int64_t kPointer = sizeof(void*);
  auto* tap_offset = builder.CreateLoad(builder.getInt64Ty(),
                                        emitter.at(emitter.member_pointer(offsetof(TileCall, taps)),
                                                   builder.CreateMul(tap, emitter.i64(sizeof(int64_t)))));
  auto* step = builder.CreateMul(emitter.member_i64(offsetof(TileCall, a_step)), emitter.i64(kPointer));
  auto* rows = emitter.at(emitter.member_pointer(offsetof(TileCall, a_rows)), builder.CreateMul(tap, step));
  FunctionEmitter::Values pointers;
  for (int row = 0; row < tile.rows; ++row)
    pointers.push_back(
        emitter.at(builder.CreateLoad(builder.getPtrTy(), emitter.at(rows, row * kPointer)), tap_offset));
  return pointers;
}

void emit_tile(llvm::Module& module, const TileKernel& tile, const Target& target) {
  FunctionEmitter emitter(module, target, "entry");
  auto* partial = emitter.member_pointer(offsetof(TileCall, partial));
  Accumulators sums = emit_start(emitter, tile, partial);
  sums = tile.kind == TileKind::dot ? emit_dot(emitter, tile, sums) : emit_window(emitter, tile, sums);
  emit_end(emitter, tile, partial, sums);
  emitter.finish();
}

}  // namespace ingot::kernel
