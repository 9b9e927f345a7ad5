#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "kernel/llvm/function_emitter.h"

namespace ingot::kernel {

// The form in memory that LDTILECFG reads: how many rows and bytes of each register are in use.
struct TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  std::array<uint8_t, 14> reserved = {};
  std::array<uint16_t, 16> row_bytes = {};  // of registers 8 to 15, which there are not, 0
  std::array<uint8_t, 16> rows = {};
};
static_assert(sizeof(TileConfig) == 64);

// The tile registers of AMX: eight of up to 16 rows of 64 bytes, named by number. What lies beyond the rows
// and bytes in use is zero.
class TileRegisters {
 public:
  static constexpr int kCount = 8;
  static constexpr int64_t kRows = 16;
  static constexpr int64_t kRowBytes = 64;

  virtual ~TileRegisters() = default;
  virtual void configure(llvm::Value* config) = 0;  // points to a TileConfig; all registers become zero
  virtual void zero(int tile) = 0;
  virtual void load(int tile, llvm::Value* base, llvm::Value* stride) = 0;
  virtual void store(int tile, llvm::Value* base, llvm::Value* stride) = 0;
  // sum[m][n] += a[m][4k + j] * b[k][4n + j] over all k and j < 4; sums i32 that wrap, b i8, a i8 or u8.
  virtual void dot(int sum, int a, int b, bool a_is_signed) = 0;
  virtual void release() = 0;
};

// By the instructions, or in memory where the target emulates them.
std::unique_ptr<TileRegisters> make_tile_registers(FunctionEmitter& emitter);
std::unique_ptr<TileRegisters> make_emulated_tile_registers(FunctionEmitter& emitter);

}  // namespace ingot::kernel
