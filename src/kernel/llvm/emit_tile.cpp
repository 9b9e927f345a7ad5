#include "kernel/llvm/emit_tile.h"

#include <cstddef>
#include <limits>
#include <optional>

#include "kernel/llvm/byte_product.h"
#include "kernel/llvm/emit.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

constexpr int64_t kPointer = sizeof(void*);
constexpr int64_t kCacheLine = 64;

llvm::Value* partial_pointer(const TileFrame& frame, size_t index) {
  return frame.emitter.at(frame.partial, static_cast<int64_t>(index) * frame.vector_bytes(DType::f32));
}

// From `partial` where the call continues an earlier one.
Accumulators emit_start(const TileFrame& frame) {
  auto& emitter = frame.emitter;
  auto* first = emitter.builder().CreateSExt(emitter.member_i32(offsetof(TileCall, first)),
                                             emitter.builder().getInt64Ty());
  return emitter.loop(first, emitter.i64(1), 1, initial_results(frame), [&](llvm::Value*, Accumulators sums) {
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = emitter.load_vector(frame.accumulator_dtype(), partial_pointer(frame, i), nullptr);
    return sums;
  });
}

void store_partial(const TileFrame& frame, const Accumulators& sums) {
  for (size_t i = 0; i < sums.size(); ++i)
    frame.emitter.store_vector(frame.accumulator_dtype(), sums[i], partial_pointer(frame, i), nullptr);
}

void emit_one(TileFrame& frame) {
  auto& builder = frame.emitter.builder();
  auto* last = builder.CreateICmpNE(frame.emitter.member_i32(offsetof(TileCall, last)), builder.getInt32(0));
  const bool is_dot = frame.tile.kind == TileKind::dot;
  if (is_dot) frame.emitter.if_then(last, [&] { emit_tile_fetch(frame); });
  Accumulators sums = emit_start(frame);
  sums = is_dot ? emit_dot(frame, sums) : emit_window(frame, sums);
  frame.emitter.if_then(last, [&] { emit_tile_epilogue(frame, sums); });
  frame.emitter.if_then(builder.CreateNot(last), [&] { store_partial(frame, sums); });
}

}  // namespace

Accumulators initial_results(const TileFrame& frame) {
  const bool is_max = frame.tile.kind == TileKind::max;
  auto* value = frame.emitter.constant(frame.accumulator_dtype(),
                                       is_max ? -std::numeric_limits<double>::infinity() : 0.0,
                                       is_max ? std::numeric_limits<int32_t>::min() : 0);
  return Accumulators(frame.accumulators(), value);
}

llvm::Value* TileFrame::tap_member(llvm::Value* index, size_t offset) {
  auto& builder = emitter.builder();
  auto* tap = emitter.at(emitter.member_pointer(offsetof(TileCall, taps)),
                         builder.CreateMul(index, emitter.i64(sizeof(TileTap))));
  return builder.CreateLoad(builder.getInt64Ty(), emitter.at(tap, static_cast<int64_t>(offset)));
}

// Mostly a line is enough, and more instructions would be felt where two threads share a core.
llvm::Value* TileFrame::fetch_next(llvm::Value* next, llvm::Value* step) {
  emitter.prefetch(next, 2);
  emitter.if_then(emitter.builder().CreateICmpSGT(step, emitter.i64(kCacheLine)), [&] {
    for (int64_t line = 1; line < kMostTileFetches; ++line)
      emitter.prefetch(emitter.at(next, line * kCacheLine), 2);
  });
  return emitter.at(next, step);
}

TileFrame::Tap TileFrame::tap(llvm::Value* index) {
  auto& builder = emitter.builder();
  auto* a_offset = tap_member(index, offsetof(TileTap, a));
  Tap result{.rows = {},
             .b = emitter.at(emitter.member_pointer(offsetof(TileCall, b)),
                             tap_member(index, offsetof(TileTap, b)))};
  for (int row = 0; row < tile.rows; ++row)
    result.rows.push_back(
        emitter.at(builder.CreateLoad(builder.getPtrTy(), emitter.at(a_rows, row * kPointer)), a_offset));
  result.rows = with_padding(std::move(result.rows), tap_member(index, offsetof(TileTap, number)));
  return result;
}

// Where the call has padding, rows that the tap does not read inside the input read that instead.
Values TileFrame::with_padding(Values rows, llvm::Value* number) {
  auto& builder = emitter.builder();
  auto* all_inside = builder.CreateIsNull(emitter.member_pointer(offsetof(TileCall, inside)));
  return emitter.loop(
      builder.CreateZExt(all_inside, builder.getInt64Ty()), emitter.i64(1), 1, std::move(rows),
      [&](llvm::Value*, Values inner) {
        auto* step = builder.CreateMul(emitter.member_i64(offsetof(TileCall, inside_step)),
                                       builder.CreateLShr(number, 6));
        auto* words = emitter.at(inside, builder.CreateMul(step, emitter.i64(sizeof(uint64_t))));
        auto* bit = builder.CreateShl(emitter.i64(1), builder.CreateAnd(number, 63));
        auto* padding = emitter.member_pointer(offsetof(TileCall, padding));
        for (size_t row = 0; row < inner.size(); ++row) {
          auto* word = builder.CreateLoad(builder.getInt64Ty(),
                                          emitter.at(words, static_cast<int64_t>(row * sizeof(uint64_t))));
          inner[row] =
              builder.CreateSelect(builder.CreateIsNull(builder.CreateAnd(word, bit)), padding, inner[row]);
        }
        return inner;
      });
}

namespace {

void emit_tiles(TileFrame& frame) {
  auto& emitter = frame.emitter;
  std::optional<ByteProduct> product;
  if (suits_tile_registers(frame.tile, emitter.target())) product.emplace(frame);
  emit_tile_prepare(frame);
  auto* tiles = emitter.member_i64(offsetof(TileCall, tiles));
  const Values start{
      emitter.member_pointer(offsetof(TileCall, a_rows)), emitter.member_pointer(offsetof(TileCall, inside)),
      emitter.member_pointer(offsetof(TileCall, memory)), emitter.member_pointer(offsetof(TileCall, partial)),
      emitter.member_pointer(offsetof(TileCall, next_b))};
  const auto one = [&](llvm::Value*, const Values& at) -> Values {
    frame.a_rows = at[0];
    frame.inside = at[1];
    frame.memory = at[2];
    frame.partial = at[3];
    frame.next_b = at[4];
    product ? product->run() : emit_one(frame);
    const int64_t rows = frame.tile.rows * kPointer;  // masks are as long as pointers
    return {emitter.at(at[0], rows), emitter.at(at[1], rows), emitter.at(at[2], rows),
            emitter.at(at[3], frame.accumulator_bytes()), frame.next_b};
  };
  emitter.loop(emitter.i64(0), tiles, 1, start, one, true);
  if (product) product->finish();
}

}  // namespace

void emit_tile(llvm::Module& module, const TileKernel& tile, const Target& target) {
  FunctionEmitter emitter(module, target, "entry");
  TileFrame frame{emitter, tile};
  if (tile.window.taps != 0)
    emit_sliding_tiles(frame);
  else
    emit_tiles(frame);
  emitter.finish();
}

}  // namespace ingot::kernel
