// Tile registers in memory, after the operation sections of the processor's manual. What makes the
// instructions fault (shapes that do not match, registers that are not configured) ends in a trap here too.
#include <llvm/IR/Intrinsics.h>

#include <cstddef>

#include "kernel/llvm/tile_registers.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

class EmulatedTiles final : public TileRegisters {
 public:
  explicit EmulatedTiles(FunctionEmitter& emitter)
      : emitter_(emitter),
        builder_(emitter.builder()),
        config_(emitter.stack(sizeof(TileConfig))),
        image_(emitter.stack(kCount * kRows * kRowBytes)) {}

  void configure(llvm::Value* config) override;
  void zero(int tile) override;
  void load(int tile, llvm::Value* base, llvm::Value* stride) override;
  void store(int tile, llvm::Value* base, llvm::Value* stride) override;
  void dot(int sum, int a, int b, bool a_is_signed) override;
  void release() override { store_row(llvm::Constant::getNullValue(row_type()), config_); }

 private:
  llvm::Type* row_type() { return llvm::FixedVectorType::get(builder_.getInt8Ty(), kRowBytes); }
  void store_row(llvm::Value* value, llvm::Value* place) {
    builder_.CreateAlignedStore(value, place, llvm::Align(1));
  }
  llvm::Value* row(int tile, llvm::Value* number) {
    return emitter_.at(emitter_.at(image_, tile * kRows * kRowBytes),
                       builder_.CreateMul(number, emitter_.i64(kRowBytes)));
  }
  llvm::Value* rows(int tile) {
    auto* place = emitter_.at(config_, static_cast<int64_t>(offsetof(TileConfig, rows)) + tile);
    return builder_.CreateZExt(builder_.CreateLoad(builder_.getInt8Ty(), place), builder_.getInt64Ty());
  }
  llvm::Value* row_bytes(int tile) {
    auto* place = emitter_.at(config_, static_cast<int64_t>(offsetof(TileConfig, row_bytes)) + 2 * tile);
    return builder_.CreateZExt(builder_.CreateLoad(builder_.getInt16Ty(), place), builder_.getInt64Ty());
  }

  void require(llvm::Value* condition) {
    emitter_.if_then(builder_.CreateNot(condition),
                     [&] { builder_.CreateIntrinsic(llvm::Intrinsic::trap, {}, {}); });
  }
  void require_configured(int tile) { require(builder_.CreateIsNotNull(rows(tile))); }
  void require_equal(llvm::Value* a, llvm::Value* b) { require(builder_.CreateICmpEQ(a, b)); }

  // Of a row: the bytes in use, none in rows beyond those in use.
  llvm::Value* mask(int tile, llvm::Value* number);
  void each_row(const std::function<void(llvm::Value* number)>& body) {
    emitter_.loop(emitter_.i64(0), emitter_.i64(kRows), 1, body);
  }
  llvm::Value* byte_of(llvm::Value* dwords, int number, bool is_signed);
  llvm::Value* add_products(llvm::Value* sum, llvm::Value* a, llvm::Value* b, bool a_is_signed);

  FunctionEmitter& emitter_;
  llvm::IRBuilder<>& builder_;
  llvm::Value* config_;
  llvm::Value* image_;
};

llvm::Value* EmulatedTiles::mask(int tile, llvm::Value* number) {
  llvm::SmallVector<llvm::Constant*> positions;
  for (int64_t i = 0; i < kRowBytes; ++i) positions.push_back(builder_.getInt8(static_cast<uint8_t>(i)));
  auto* used = builder_.CreateICmpULT(number, rows(tile));
  auto* bytes = builder_.CreateSelect(used, row_bytes(tile), emitter_.i64(0));
  auto* limit = builder_.CreateVectorSplat(kRowBytes, builder_.CreateTrunc(bytes, builder_.getInt8Ty()));
  return builder_.CreateICmpULT(llvm::ConstantVector::get(positions), limit);
}

void EmulatedTiles::configure(llvm::Value* config) {
  store_row(builder_.CreateAlignedLoad(row_type(), config, llvm::Align(1)), config_);
  require(builder_.CreateICmpEQ(builder_.CreateLoad(builder_.getInt8Ty(), config_), builder_.getInt8(1)));
  for (int tile = 0; tile < kCount; ++tile) {
    require(builder_.CreateICmpULE(rows(tile), emitter_.i64(kRows)));
    require(builder_.CreateICmpULE(row_bytes(tile), emitter_.i64(kRowBytes)));
    zero(tile);
  }
}

void EmulatedTiles::zero(int tile) {
  each_row([&](llvm::Value* r) { store_row(llvm::Constant::getNullValue(row_type()), row(tile, r)); });
}

void EmulatedTiles::load(int tile, llvm::Value* base, llvm::Value* stride) {
  require_configured(tile);
  each_row([&](llvm::Value* r) {
    auto* from = emitter_.at(base, builder_.CreateMul(r, stride));
    store_row(builder_.CreateMaskedLoad(row_type(), from, llvm::Align(1), mask(tile, r),
                                        llvm::Constant::getNullValue(row_type())),
              row(tile, r));
  });
}

void EmulatedTiles::store(int tile, llvm::Value* base, llvm::Value* stride) {
  require_configured(tile);
  each_row([&](llvm::Value* r) {
    auto* value = builder_.CreateAlignedLoad(row_type(), row(tile, r), llvm::Align(1));
    auto* to = emitter_.at(base, builder_.CreateMul(r, stride));
    builder_.CreateMaskedStore(value, to, llvm::Align(1), mask(tile, r));
  });
}

llvm::Value* EmulatedTiles::byte_of(llvm::Value* dwords, int number, bool is_signed) {
  auto* highest = builder_.CreateShl(dwords, static_cast<uint64_t>(24 - 8 * number));
  return is_signed ? builder_.CreateAShr(highest, 24) : builder_.CreateLShr(highest, 24);
}

llvm::Value* EmulatedTiles::add_products(llvm::Value* sum, llvm::Value* a, llvm::Value* b, bool a_is_signed) {
  for (int i = 0; i < 4; ++i)
    sum = builder_.CreateAdd(sum, builder_.CreateMul(byte_of(a, i, a_is_signed), byte_of(b, i, true)));
  return sum;
}

void EmulatedTiles::dot(int sum, int a, int b, bool a_is_signed) {
  for (const int tile : {sum, a, b}) require_configured(tile);
  auto* steps = builder_.CreateLShr(row_bytes(a), 2);
  require_equal(rows(sum), rows(a));
  require_equal(row_bytes(sum), row_bytes(b));
  require_equal(steps, rows(b));
  for (const int tile : {sum, a, b}) require(builder_.CreateIsNull(builder_.CreateAnd(row_bytes(tile), 3)));
  auto* type = emitter_.vector_type(DType::i32);
  each_row([&](llvm::Value* m) {
    Values sums = {builder_.CreateAlignedLoad(type, row(sum, m), llvm::Align(1))};
    sums = emitter_.loop(emitter_.i64(0), steps, 1, sums, [&](llvm::Value* k, const Values& so_far) {
      auto* four = emitter_.at(row(a, m), builder_.CreateMul(k, emitter_.i64(4)));
      auto* a_bytes = emitter_.splat(builder_.CreateAlignedLoad(builder_.getInt32Ty(), four, llvm::Align(1)));
      auto* b_bytes = builder_.CreateAlignedLoad(type, row(b, k), llvm::Align(1));
      return Values{add_products(so_far[0], a_bytes, b_bytes, a_is_signed)};
    });
    auto* bytes = builder_.CreateBitCast(sums[0], row_type());
    store_row(builder_.CreateSelect(mask(sum, m), bytes, llvm::Constant::getNullValue(row_type())),
              row(sum, m));
  });
}

}  // namespace

std::unique_ptr<TileRegisters> make_emulated_tile_registers(FunctionEmitter& emitter) {
  return std::make_unique<EmulatedTiles>(emitter);
}

}  // namespace ingot::kernel
