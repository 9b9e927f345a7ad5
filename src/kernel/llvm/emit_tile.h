#pragma once

#include "kernel/llvm/function_emitter.h"

// The parts of a tile, all between the same accumulators: one vector per row and vector of columns, row by
// row.
namespace ingot::kernel {

using Accumulators = FunctionEmitter::Values;

inline size_t accumulator_count(const TileKernel& tile) {
  return static_cast<size_t>(tile.rows) * static_cast<size_t>(tile.vectors);
}
inline DType accumulator_dtype(const TileKernel& tile) {
  return is_integer(tile.a) ? DType::i32 : DType::f32;
}

// Adds to them what the call's taps and depth give; the kinds dot and all others.
Accumulators emit_dot(FunctionEmitter& emitter, const TileKernel& tile, Accumulators sums);
Accumulators emit_window(FunctionEmitter& emitter, const TileKernel& tile, Accumulators results);

// Stores what the epilogue makes of them.
void emit_tile_epilogue(FunctionEmitter& emitter, const TileKernel& tile, const Accumulators& results);

// The call's pointer to each row of `a` at tap number `tap`.
FunctionEmitter::Values emit_row_pointers(FunctionEmitter& emitter, const TileKernel& tile, llvm::Value* tap);

// One step in the depth of a dot product: what is loaded of a and b, and how it is multiplied and added.
class DotStep {
 public:
  DotStep(FunctionEmitter& emitter, const TileKernel& tile) : emitter_(emitter), a_(tile.a), b_(tile.b) {}

  // Bytes of one row of `a` that a step reads.
  int64_t a_bytes() const { return 4; }
  // Steps in `depth` of the call.
  llvm::Value* count(llvm::Value* depth);

  llvm::Value* load_a(llvm::Value* pointer);  // the same in all lanes
  llvm::Value* load_b(llvm::Value* pointer);
  int64_t b_vector_bytes() const;  // from one vector of columns to the next
  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* sum);

 private:
  bool integer() const { return is_integer(a_); }
  llvm::Value* pairwise(llvm::Value* a, llvm::Value* b, llvm::Value* sum);

  FunctionEmitter& emitter_;
  DType a_;
  DType b_;
};

}  // namespace ingot::kernel
