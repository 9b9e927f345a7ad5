#include "kernel/llvm/tile_registers.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace ingot::kernel {
namespace {

class TileInstructions final : public TileRegisters {
 public:
  explicit TileInstructions(FunctionEmitter& emitter) : builder_(emitter.builder()) {}

  void configure(llvm::Value* config) override { call(llvm::Intrinsic::x86_ldtilecfg, {config}); }
  void zero(int tile) override { call(llvm::Intrinsic::x86_tilezero, {number(tile)}); }
  void load(int tile, llvm::Value* base, llvm::Value* stride) override {
    call(llvm::Intrinsic::x86_tileloadd64, {number(tile), base, stride});
  }
  void store(int tile, llvm::Value* base, llvm::Value* stride) override {
    call(llvm::Intrinsic::x86_tilestored64, {number(tile), base, stride});
  }
  void dot(int sum, int a, int b, bool a_is_signed) override {
    call(a_is_signed ? llvm::Intrinsic::x86_tdpbssd : llvm::Intrinsic::x86_tdpbusd,
         {number(sum), number(a), number(b)});
  }
  void release() override { call(llvm::Intrinsic::x86_tilerelease, {}); }

 private:
  llvm::Value* number(int tile) { return builder_.getInt8(static_cast<uint8_t>(tile)); }
  void call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> arguments) {
    builder_.CreateIntrinsic(id, {}, arguments);
  }

  llvm::IRBuilder<>& builder_;
};

}  // namespace

std::unique_ptr<TileRegisters> make_tile_registers(FunctionEmitter& emitter) {
  if (emitter.target().emulates_tiles) return make_emulated_tile_registers(emitter);
  return std::make_unique<TileInstructions>(emitter);
}

}  // namespace ingot::kernel
