#pragma once

#include "kernel/llvm/emit_tile.h"
#include "kernel/llvm/tile_registers.h"

namespace ingot::kernel {

// Whether a tile is computed in the tile registers of AMX.
bool suits_tile_registers(const TileKernel& tile, const Target& target);

// Writes such a tile. Made before the loop over the tiles of a call, whose registers it configures.
class ByteProduct {
 public:
  explicit ByteProduct(TileFrame& frame);
  void run();     // the tile that the frame is at
  void finish();  // gives the registers back

 private:
  using Values = FunctionEmitter::Values;
  struct Tap {
    llvm::Value* index;
    llvm::Value* a;  // bytes from the rows
    llvm::Value* b;
  };
  struct Registers {
    int a;
    int b;
    llvm::Value* mask;  // i1 per four bytes of a row
  };

  void configure();
  void each_sum(llvm::Value* memory, void (TileRegisters::*move)(int, llvm::Value*, llvm::Value*));
  void start();
  void find_rows();
  llvm::Value* multiply_tap(llvm::Value* index, llvm::Value* next);
  void multiply(const Tap& tap, llvm::Value* k, const Registers& registers);
  Values copy(const Tap& tap, llvm::Value* k, const Registers& registers);
  void fetch(llvm::Value*& next, int turns);

  TileFrame& frame_;
  FunctionEmitter& emitter_;
  llvm::IRBuilder<>& builder_;
  std::unique_ptr<TileRegisters> registers_;
  llvm::Value* copied_rows_;
  llvm::Value* sums_;       // on the way to the epilogue
  llvm::Value* row_bytes_;  // from one row of b to the next, and of sums
  llvm::Value* left_;       // of the depth, behind whole steps
  llvm::Value* whole_;      // the others
  llvm::Value* even_ = nullptr;
  llvm::Value* first_row_ = nullptr;
  llvm::Value* distance_ = nullptr;
};

}  // namespace ingot::kernel
