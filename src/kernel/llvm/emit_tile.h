#pragma once

#include <optional>

#include "kernel/llvm/function_emitter.h"

// The parts of a tile, all between the same accumulators: one vector per row and vector of columns, row by
// row.
namespace ingot::kernel {

using Accumulators = FunctionEmitter::Values;

// What the function makes, where it is in its call.
struct TileFrame {
  FunctionEmitter& emitter;
  const TileKernel& tile;
  llvm::Value* a_rows = nullptr;  // of the tile at hand, as are the next three
  llvm::Value* inside = nullptr;
  llvm::Value* memory = nullptr;
  llvm::Value* partial = nullptr;
  llvm::Value* next_b = nullptr;  // moves on with every step of a dot product
  llvm::Value* kept = nullptr;    // on the stack: what a long epilogue computes once per call

  size_t accumulators() const { return static_cast<size_t>(tile.rows) * static_cast<size_t>(tile.vectors); }
  DType accumulator_dtype() const { return is_integer(tile.a) ? DType::i32 : DType::f32; }
  int64_t accumulator_bytes() const { return static_cast<int64_t>(accumulators()) * emitter.lanes() * 4; }
  // Bytes of so many elements, of one vector of them.
  int64_t vector_bytes(DType dtype) const { return emitter.lanes() * bit_width(dtype) / 8; }

  // Rows of `a` at a tap, and its b.
  struct Tap {
    FunctionEmitter::Values rows;
    llvm::Value* b;
  };
  Tap tap(llvm::Value* index);
  llvm::Value* tap_member(llvm::Value* index, size_t offset);  // of TileTap
  // Fetches what one turn of the depth does of TileCall::next_b, and returns where the next turn begins.
  llvm::Value* fetch_next(llvm::Value* next, llvm::Value* step);

 private:
  FunctionEmitter::Values with_padding(FunctionEmitter::Values rows, llvm::Value* number);
};

// Adds to them what the call's taps and depth give; the kinds dot and all others.
Accumulators emit_dot(TileFrame& frame, Accumulators sums);
Accumulators emit_window(TileFrame& frame, Accumulators results);

// Where a window begins: nothing, or less than anything.
Accumulators initial_results(const TileFrame& frame);

// One tap of a window on one vector.
class WindowOp {
 public:
  explicit WindowOp(const TileFrame& frame) : emitter_(frame.emitter), tile_(frame.tile) {}

  llvm::Value* load_a(llvm::Value* pointer, llvm::Value* mask);
  llvm::Value* load_weight(llvm::Value* pointer);  // null where the kind has none
  llvm::Value* combine(llvm::Value* a, llvm::Value* weight, llvm::Value* result);

 private:
  llvm::Value* larger(llvm::Value* a, llvm::Value* result);

  FunctionEmitter& emitter_;
  const TileKernel& tile_;
};

// Tiles whose rows share their windows, all of a call.
void emit_sliding_tiles(TileFrame& frame);

// Computes what a long epilogue needs once per call; before the first tile.
void emit_tile_prepare(TileFrame& frame);
// Fetches what the epilogue will load and store; stores what it makes of the results. `whole`: all columns
// are valid, or not all are; not given: the code looks.
void emit_tile_fetch(TileFrame& frame);
void emit_tile_epilogue(TileFrame& frame, const Accumulators& results, std::optional<bool> whole = {});
// The same of results that lie in memory, as accumulators would.
void emit_tile_epilogue(TileFrame& frame, llvm::Value* results);

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
