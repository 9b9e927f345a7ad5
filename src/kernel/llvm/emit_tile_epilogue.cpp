// Epilogues run straight on the accumulators where they are short and the tile is whole. Otherwise the
// accumulators go through a buffer on the stack and a loop over rows, which keeps the code small whatever the
// expressions.
#include <algorithm>
#include <cstddef>

#include "kernel/llvm/emit_tile.h"
#include "kernel/llvm/expressions.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

bool is_light(const Expr& expr) {
  if (expr.kind != ExprKind::op) return true;
  return expr.op == Op::Add || expr.op == Op::Sub || expr.op == Op::Mul || expr.op == Op::Max ||
         expr.op == Op::Min || expr.op == Op::Relu;
}

bool runs_in_registers(const TileFrame& frame) {
  constexpr size_t kMostExpressions = 128;
  const auto& exprs = frame.tile.epilogue.exprs;
  return std::all_of(exprs.begin(), exprs.end(), is_light) &&
         exprs.size() * frame.accumulators() <= kMostExpressions;
}

class TileEpilogue {
 public:
  explicit TileEpilogue(TileFrame& frame)
      : frame_(frame),
        emitter_(frame.emitter),
        builder_(emitter_.builder()),
        tile_(frame.tile),
        nest_(tile_.epilogue) {
    column_ = emitter_.member_i64(offsetof(TileCall, column));
    columns_ = emitter_.member_i64(offsetof(TileCall, columns));
  }

  void run(const Accumulators& results);
  void fetch();

 private:
  // A row of the tile, its number known or not.
  struct Row {
    llvm::Value* number;
    Values results;
  };

  void in_registers(const Accumulators& results);
  void row_by_row(llvm::Value* buffer, bool masked);
  void row(const Row& row, bool masked);
  llvm::Value* leaf(const Expr& expr, const Row& row, size_t vector, llvm::Value* mask);
  llvm::Value* start_of(int32_t access, llvm::Value* row);
  llvm::Value* pointer(int32_t access, llvm::Value* row, size_t vector);
  llvm::Value* mask(size_t vector);
  llvm::Value* alone_in_entry(llvm::Type* type);

  TileFrame& frame_;
  FunctionEmitter& emitter_;
  llvm::IRBuilder<>& builder_;
  const TileKernel& tile_;
  const LoopNest& nest_;
  Values starts_;  // of the accesses in the row at hand
  llvm::Value* column_;
  llvm::Value* columns_;
};

llvm::Value* TileEpilogue::mask(size_t vector) {
  return emitter_.lane_mask(
      builder_.CreateSub(columns_, emitter_.i64(static_cast<int64_t>(vector) * emitter_.lanes())));
}

llvm::Value* TileEpilogue::start_of(int32_t index, llvm::Value* row) {
  const auto& access = nest_.accesses.at(static_cast<size_t>(index));
  auto* slot = builder_.CreateMul(emitter_.member_i64(offsetof(TileCall, memory_step)), emitter_.i64(index));
  if (!access.strides.at(0).is(0)) slot = builder_.CreateAdd(slot, row);
  auto* place = emitter_.at(frame_.memory, builder_.CreateMul(slot, emitter_.i64(sizeof(void*))));
  auto* start = builder_.CreateLoad(builder_.getPtrTy(), place);
  if (access.strides.at(1).is(0)) return start;
  return emitter_.at(start, builder_.CreateMul(column_, emitter_.i64(bit_width(access.dtype) / 8)));
}

// Of the row at hand; its start is loaded once.
llvm::Value* TileEpilogue::pointer(int32_t index, llvm::Value* row, size_t vector) {
  auto*& start = starts_.at(static_cast<size_t>(index));
  if (start == nullptr) start = start_of(index, row);
  const auto& access = nest_.accesses.at(static_cast<size_t>(index));
  if (access.strides.at(1).is(0)) return start;
  return emitter_.at(start, static_cast<int64_t>(vector) * frame_.vector_bytes(access.dtype));
}

llvm::Value* TileEpilogue::leaf(const Expr& expr, const Row& row, size_t vector, llvm::Value* mask) {
  if (expr.kind == ExprKind::accumulator) return row.results[vector];
  const auto& access = nest_.accesses.at(static_cast<size_t>(expr.source));
  auto* place = pointer(expr.source, row.number, vector);
  if (access.strides.at(1).is(0)) return emitter_.splat(emitter_.load_scalar(access.dtype, place));
  return emitter_.load_vector(access.dtype, place, mask);
}

void TileEpilogue::row(const Row& row, bool masked) {
  starts_.assign(nest_.accesses.size(), nullptr);
  for (size_t v = 0; v < row.results.size(); ++v) {
    auto* lanes = masked ? mask(v) : nullptr;
    Expressions expressions(emitter_, nest_, [&](int32_t index) {
      return leaf(nest_.exprs.at(static_cast<size_t>(index)), row, v, lanes);
    });
    for (const auto& store : nest_.stores)
      emitter_.store_vector(nest_.accesses.at(static_cast<size_t>(store.access)).dtype,
                            expressions.value(store.expr), pointer(store.access, row.number, v), lanes);
  }
}

void TileEpilogue::in_registers(const Accumulators& results) {
  const auto vectors = static_cast<ptrdiff_t>(tile_.vectors);
  for (ptrdiff_t r = 0; r < tile_.rows; ++r)
    row({emitter_.i64(r), Values(results.begin() + r * vectors, results.begin() + (r + 1) * vectors)}, false);
}

void TileEpilogue::row_by_row(llvm::Value* buffer, bool masked) {
  const DType dtype = frame_.accumulator_dtype();
  const int64_t vector_bytes = frame_.vector_bytes(DType::f32);
  emitter_.loop(emitter_.i64(0), emitter_.i64(tile_.rows), 1, [&](llvm::Value* number) {
    auto* start = emitter_.at(buffer, builder_.CreateMul(number, emitter_.i64(tile_.vectors * vector_bytes)));
    Values results;
    for (int64_t v = 0; v < tile_.vectors; ++v)
      results.push_back(emitter_.load_vector(dtype, emitter_.at(start, v * vector_bytes), nullptr));
    row({number, std::move(results)}, masked);
  });
}

// Stack memory, reserved where the function begins.
llvm::Value* TileEpilogue::alone_in_entry(llvm::Type* type) {
  llvm::IRBuilder<> entry(&emitter_.function()->getEntryBlock(),
                          emitter_.function()->getEntryBlock().begin());
  auto* buffer = entry.CreateAlloca(type);
  buffer->setAlignment(llvm::Align(64));
  return buffer;
}

void TileEpilogue::run(const Accumulators& results) {
  auto* vector = emitter_.vector_type(frame_.accumulator_dtype());
  auto* buffer = alone_in_entry(llvm::ArrayType::get(vector, results.size()));
  auto* whole =
      builder_.CreateICmpSGE(columns_, emitter_.i64(static_cast<int64_t>(tile_.vectors) * emitter_.lanes()));
  auto spill = [&] {
    for (size_t i = 0; i < results.size(); ++i)
      builder_.CreateAlignedStore(
          results[i], emitter_.at(buffer, static_cast<int64_t>(i) * frame_.vector_bytes(DType::f32)),
          llvm::Align(4));
  };
  emitter_.if_then(whole, [&] {
    if (runs_in_registers(frame_)) return in_registers(results);
    spill();
    row_by_row(buffer, false);
  });
  emitter_.if_then(builder_.CreateNot(whole), [&] {
    spill();
    row_by_row(buffer, true);
  });
}

// Rows of columns are fetched before the sums are made: the stores come in a burst that would wait for
// memory.
void TileEpilogue::fetch() {
  constexpr int64_t kCacheLine = 64;
  for (size_t i = 0; i < nest_.accesses.size(); ++i) {
    const auto& access = nest_.accesses[i];
    if (access.strides.at(0).is(0) || access.strides.at(1).is(0)) continue;
    const int64_t bytes = tile_.vectors * frame_.vector_bytes(access.dtype);
    for (int64_t r = 0; r < tile_.rows; ++r) {
      auto* start = start_of(static_cast<int32_t>(i), emitter_.i64(r));
      for (int64_t at = 0; at < bytes; at += kCacheLine) emitter_.prefetch(emitter_.at(start, at), 3);
    }
  }
}

}  // namespace

void emit_tile_fetch(TileFrame& frame) { TileEpilogue(frame).fetch(); }

void emit_tile_epilogue(TileFrame& frame, const Accumulators& results) { TileEpilogue(frame).run(results); }

}  // namespace ingot::kernel
