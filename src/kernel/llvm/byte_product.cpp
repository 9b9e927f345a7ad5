// Products of bytes in tile registers: up to 16 rows of `a` meet 16 columns of b at a time, 64 products deep.
// Sums stay in their registers over all taps. What is left of the depth has registers of its own, since
// another configuration would clear the sums.
#include "kernel/llvm/byte_product.h"

#include <cstddef>

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

constexpr int kA = 4, kB = 5;          // sums lie before them
constexpr int kLastA = 6, kLastB = 7;  // of what is left of the depth
constexpr int64_t kDepth = TileRegisters::kRowBytes;
constexpr int64_t kVectorBytes = TileRegisters::kRowBytes;  // of b and the sums, for 16 columns

}  // namespace

bool suits_tile_registers(const TileKernel& tile, const Target& target) {
  constexpr int32_t kFewRows = 4;  // below, b is read for too little work, and vectors fetch it earlier
  if (target.level < IsaLevel::amx || tile.kind != TileKind::dot || !is_integer(tile.a)) return false;
  return tile.a == DType::i8 || tile.rows >= kFewRows;
}

ByteProduct::ByteProduct(TileFrame& frame)
    : frame_(frame),
      emitter_(frame.emitter),
      builder_(emitter_.builder()),
      registers_(make_tile_registers(emitter_)),
      copied_rows_(emitter_.stack(TileRegisters::kRows * TileRegisters::kRowBytes)),
      sums_(emitter_.stack(frame.accumulator_bytes())),
      row_bytes_(emitter_.i64(frame.tile.vectors * kVectorBytes)) {
  auto* depth = emitter_.member_i64(offsetof(TileCall, depth));
  left_ = builder_.CreateAnd(depth, kDepth - 1);
  whole_ = builder_.CreateSub(depth, left_);
  configure();
}

// Registers of the rest must have a shape even where there is none.
void ByteProduct::configure() {
  const auto rows = static_cast<uint8_t>(frame_.tile.rows);
  TileConfig config;
  const auto set = [&](int tile, uint8_t count, int64_t bytes) {
    config.rows.at(static_cast<size_t>(tile)) = count;
    config.row_bytes.at(static_cast<size_t>(tile)) = static_cast<uint16_t>(bytes);
  };
  for (int v = 0; v < frame_.tile.vectors; ++v) set(v, rows, kVectorBytes);
  set(kA, rows, kDepth);
  set(kB, kDepth / 4, kVectorBytes);
  set(kLastA, rows, 0);
  set(kLastB, 0, kVectorBytes);
  auto* memory = emitter_.stack(sizeof(TileConfig));
  const auto bytes = llvm::ArrayRef(reinterpret_cast<const uint8_t*>(&config), sizeof config);
  builder_.CreateAlignedStore(llvm::ConstantDataVector::get(builder_.getContext(), bytes), memory,
                              llvm::Align(64));
  auto* used = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left_, emitter_.i64(4));
  constexpr auto kBytesAt = static_cast<int64_t>(offsetof(TileConfig, row_bytes)) + 2 * kLastA;
  constexpr auto kRowsAt = static_cast<int64_t>(offsetof(TileConfig, rows)) + kLastB;
  builder_.CreateStore(builder_.CreateTrunc(used, builder_.getInt16Ty()), emitter_.at(memory, kBytesAt));
  builder_.CreateStore(builder_.CreateTrunc(builder_.CreateLShr(used, 2), builder_.getInt8Ty()),
                       emitter_.at(memory, kRowsAt));
  registers_->configure(memory);
}

void ByteProduct::each_sum(llvm::Value* memory,
                           void (TileRegisters::*move)(int, llvm::Value*, llvm::Value*)) {
  for (int v = 0; v < frame_.tile.vectors; ++v)
    (registers_.get()->*move)(v, emitter_.at(memory, v * kVectorBytes), row_bytes_);
}

void ByteProduct::start() {
  auto* first = builder_.CreateIsNotNull(emitter_.member_i32(offsetof(TileCall, first)));
  emitter_.if_then(first, [&] {
    for (int v = 0; v < frame_.tile.vectors; ++v) registers_->zero(v);
  });
  emitter_.if_then(builder_.CreateNot(first), [&] { each_sum(frame_.partial, &TileRegisters::load); });
}

// Rows at equal distances are loaded where they lie, others through a copy.
void ByteProduct::find_rows() {
  Values rows;
  for (int64_t r = 0; r < frame_.tile.rows; ++r) {
    auto* place = emitter_.at(frame_.a_rows, r * static_cast<int64_t>(sizeof(void*)));
    rows.push_back(builder_.CreateLoad(builder_.getInt64Ty(), place));
  }
  even_ = builder_.CreateIsNull(emitter_.member_pointer(offsetof(TileCall, inside)));
  distance_ = rows.size() > 1 ? builder_.CreateSub(rows[1], rows[0]) : emitter_.i64(0);
  for (size_t r = 2; r < rows.size(); ++r)
    even_ =
        builder_.CreateAnd(even_, builder_.CreateICmpEQ(builder_.CreateSub(rows[r], rows[r - 1]), distance_));
  first_row_ = builder_.CreateLoad(builder_.getPtrTy(), frame_.a_rows);
}

// Multiplies what lies from `k` on, as many products deep as the registers of `a` and b take.
void ByteProduct::multiply(const Tap& tap, llvm::Value* k, const Registers& registers) {
  auto* skipped = builder_.CreateMul(k, emitter_.i64(frame_.tile.vectors * kVectorBytes / 4));
  auto* b = emitter_.at(tap.b, skipped);
  const Values direct = {emitter_.at(emitter_.at(first_row_, tap.a), k), distance_};
  const Values a =
      emitter_.if_then(builder_.CreateNot(even_), direct, [&] { return copy(tap, k, registers); });
  registers_->load(registers.a, a[0], a[1]);
  for (int v = 0; v < frame_.tile.vectors; ++v) {
    registers_->load(registers.b, emitter_.at(b, v * kVectorBytes), row_bytes_);
    registers_->dot(v, registers.a, registers.b, frame_.tile.a == DType::i8);
  }
}

Values ByteProduct::copy(const Tap& tap, llvm::Value* k, const Registers& registers) {
  const TileFrame::Tap at = frame_.tap(tap.index);
  auto* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), kDepth / 4);
  for (size_t r = 0; r < at.rows.size(); ++r) {
    auto* to = emitter_.at(copied_rows_, static_cast<int64_t>(r) * kDepth);
    auto* value = builder_.CreateMaskedLoad(type, emitter_.at(at.rows[r], k), llvm::Align(1), registers.mask,
                                            llvm::Constant::getNullValue(type));
    builder_.CreateAlignedStore(value, to, llvm::Align(64));
  }
  return {copied_rows_, emitter_.i64(kDepth)};
}

// A turn of the driver is 16 products.
void ByteProduct::fetch(llvm::Value*& next, int turns) {
  auto* step = emitter_.member_i64(offsetof(TileCall, next_step));
  for (int i = 0; i < turns; ++i) next = frame_.fetch_next(next, step);
}

llvm::Value* ByteProduct::multiply_tap(llvm::Value* index, llvm::Value* next) {
  constexpr int kTurns = 4;
  const Tap tap{.index = index,
                .a = frame_.tap_member(index, offsetof(TileTap, a)),
                .b = emitter_.at(emitter_.member_pointer(offsetof(TileCall, b)),
                                 frame_.tap_member(index, offsetof(TileTap, b)))};
  auto* all = emitter_.lane_mask(emitter_.i64(kDepth / 4));
  next = emitter_
             .loop(emitter_.i64(0), whole_, kDepth, {next},
                   [&](llvm::Value* k, Values at) {
                     multiply(tap, k, {kA, kB, all});
                     fetch(at[0], kTurns);
                     return at;
                   })
             .front();
  emitter_.if_then(builder_.CreateIsNotNull(left_), [&] {
    multiply(tap, whole_, {kLastA, kLastB, emitter_.lane_mask(builder_.CreateLShr(left_, 2))});
  });
  auto* step = emitter_.member_i64(offsetof(TileCall, next_step));
  return emitter_.at(next, builder_.CreateMul(builder_.CreateLShr(left_, 4), step));
}

void ByteProduct::run() {
  auto* last = builder_.CreateIsNotNull(emitter_.member_i32(offsetof(TileCall, last)));
  emitter_.if_then(last, [&] { emit_tile_fetch(frame_); });
  start();
  find_rows();
  auto* taps = emitter_.member_i64(offsetof(TileCall, tap_count));
  const auto one = [&](llvm::Value* index, const Values& at) { return Values{multiply_tap(index, at[0])}; };
  frame_.next_b = emitter_.loop(emitter_.i64(0), taps, 1, {frame_.next_b}, one, true).front();
  emitter_.if_then(last, [&] {
    each_sum(sums_, &TileRegisters::store);
    emit_tile_epilogue(frame_, sums_);
  });
  emitter_.if_then(builder_.CreateNot(last), [&] { each_sum(frame_.partial, &TileRegisters::store); });
}

void ByteProduct::finish() { registers_->release(); }

}  // namespace ingot::kernel
