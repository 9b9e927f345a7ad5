// Epilogues run straight on the accumulators where they are short and the tile is whole. Otherwise the
// accumulators go through a buffer on the stack and a loop over rows, which keeps the code small whatever the
// expressions.
#include <algorithm>
#include <cstddef>
#include <optional>

#include "kernel/llvm/emit_tile.h"
#include "kernel/llvm/expressions.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

// About how many instructions an expression takes per vector; none where it is not short.
std::optional<size_t> instructions(const Expr& expr) {
  if (expr.kind == ExprKind::load || expr.kind == ExprKind::fma) return 1;
  if (expr.kind != ExprKind::op) return 0;
  switch (expr.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Max:
    case Op::Min:
    case Op::Relu: return 1;
    case Op::Clamp: return 2;
    case Op::LeakyRelu: return 3;
    case Op::HardSwish: return 5;
    case Op::Cast: return expr.dtype == DType::f32 ? std::optional<size_t>(1) : std::nullopt;
    default: return std::nullopt;
  }
}

// The same where what does not vary along rows is computed beforehand. Less and what selects by it are one.
std::optional<size_t> later_instructions(const Expr& expr) {
  switch (expr.kind == ExprKind::op ? expr.op : Op::Input) {
    case Op::Less:
    case Op::BitCast: return 0;
    case Op::Cast:
    case Op::Select: return 1;
    default: return instructions(expr);
  }
}

// Of a whole tile, with what is kept for all its rows.
bool keeps_registers(const TileFrame& frame) {
  constexpr size_t kMostInstructions = 480;
  const std::vector<bool> by_row = varying(frame.tile.epilogue, 0);
  size_t count = frame.tile.epilogue.stores.size();
  for (size_t i = 0; i < by_row.size(); ++i) {
    if (!by_row[i]) continue;
    const std::optional<size_t> more = later_instructions(frame.tile.epilogue.exprs[i]);
    if (!more) return false;
    count += *more;
  }
  return frame.emitter.target().level >= IsaLevel::avx512 &&
         count * frame.accumulators() <= kMostInstructions;
}

bool runs_in_registers(const TileFrame& frame) {
  constexpr size_t kMostInstructions = 192;
  size_t count = frame.tile.epilogue.stores.size();
  for (const Expr& expr : frame.tile.epilogue.exprs) {
    const std::optional<size_t> more = instructions(expr);
    if (!more) return false;
    count += *more;
  }
  return count * frame.accumulators() <= kMostInstructions;
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
    if (frame.kept != nullptr) kept_ = find_kept();
  }

  void prepare();
  void run(const Accumulators& results, std::optional<bool> whole);
  void run(llvm::Value* buffer);
  void fetch();

 private:
  // A row of the tile, its number known or not.
  struct Row {
    llvm::Value* number;
    Values results;
  };

  // An expression that lies on the stack: [vector of columns] from `place` on, where it varies along them.
  struct Kept {
    int32_t expr;
    bool by_column;
    int64_t place;  // in vectors
  };

  std::vector<Kept> find_kept() const;
  llvm::Value* kept_pointer(const Kept& kept, size_t vector);
  void keep(const Values& masks);
  llvm::Value* is_whole();
  void finish(const Accumulators& results, bool whole);
  void in_registers(const Accumulators& results, const Values& masks);
  llvm::Value* spill(const Accumulators& results);
  llvm::Value* given_start(int32_t access, llvm::Value* row);
  void find_rows();
  void row_by_row(llvm::Value* buffer, bool masked);
  void row(const Row& row, const Values& masks);
  Values all_masks();
  Values no_masks() const { return Values(static_cast<size_t>(tile_.vectors), nullptr); }
  llvm::Value* leaf(const Expr& expr, const Row& row, size_t vector, llvm::Value* mask);
  llvm::Value* start_of(int32_t access, llvm::Value* row);
  llvm::Value* pointer(int32_t access, llvm::Value* row, size_t vector);
  llvm::Value* mask(size_t vector);

  TileFrame& frame_;
  FunctionEmitter& emitter_;
  llvm::IRBuilder<>& builder_;
  const TileKernel& tile_;
  const LoopNest& nest_;
  std::vector<Kept> kept_;
  Values starts_;  // of the accesses in the row at hand
  Values firsts_;  // of the accesses in the first row, and bytes to the next one, where rows are neighbours
  Values steps_;
  llvm::Value* column_;
  llvm::Value* columns_;
};

llvm::Value* TileEpilogue::mask(size_t vector) {
  return emitter_.lane_mask(
      builder_.CreateSub(columns_, emitter_.i64(static_cast<int64_t>(vector) * emitter_.lanes())));
}

// As the call says, for the row or, with a window, for the first one.
llvm::Value* TileEpilogue::given_start(int32_t index, llvm::Value* row) {
  const auto& access = nest_.accesses.at(static_cast<size_t>(index));
  auto* slot = builder_.CreateMul(emitter_.member_i64(offsetof(TileCall, memory_step)), emitter_.i64(index));
  const bool fixed = access.strides.at(0).is(0);
  if (row != nullptr && !fixed) slot = builder_.CreateAdd(slot, row);
  auto* memory =
      fixed && row != nullptr ? emitter_.member_pointer(offsetof(TileCall, memory)) : frame_.memory;
  auto* place = emitter_.at(memory, builder_.CreateMul(slot, emitter_.i64(sizeof(void*))));
  auto* start = builder_.CreateLoad(builder_.getPtrTy(), place);
  if (access.strides.at(1).is(0)) return start;
  return emitter_.at(start, builder_.CreateMul(column_, emitter_.i64(bit_width(access.dtype) / 8)));
}

void TileEpilogue::find_rows() {
  for (size_t i = 0; i < nest_.accesses.size(); ++i) {
    firsts_.push_back(given_start(static_cast<int32_t>(i), nullptr));
    auto* step = emitter_.at(emitter_.member_pointer(offsetof(TileCall, memory_row)),
                             static_cast<int64_t>(i * sizeof(int64_t)));
    steps_.push_back(builder_.CreateLoad(builder_.getInt64Ty(), step));
  }
}

llvm::Value* TileEpilogue::start_of(int32_t index, llvm::Value* row) {
  if (firsts_.empty()) return given_start(index, row);
  auto* first = firsts_.at(static_cast<size_t>(index));
  if (nest_.accesses.at(static_cast<size_t>(index)).strides.at(0).is(0)) return first;
  return emitter_.at(first, builder_.CreateMul(row, steps_.at(static_cast<size_t>(index))));
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

Values TileEpilogue::all_masks() {
  Values masks;
  for (size_t v = 0; v < static_cast<size_t>(tile_.vectors); ++v) masks.push_back(mask(v));
  return masks;
}

// What varies along columns at most is computed once per call, where the epilogue is long.
std::vector<TileEpilogue::Kept> TileEpilogue::find_kept() const {
  const std::vector<bool> by_row = varying(nest_, 0), by_column = varying(nest_, 1);
  std::vector<bool> used(nest_.exprs.size(), false);
  for (size_t i = 0; i < nest_.exprs.size(); ++i)
    for (int32_t arg : nest_.exprs[i].args)
      if (by_row[i]) used[static_cast<size_t>(arg)] = true;
  std::vector<Kept> kept;
  int64_t place = 0;
  for (size_t i = 0; i < nest_.exprs.size(); ++i) {
    const Expr& e = nest_.exprs[i];
    const bool is_word = bit_width(arithmetic_type(e.dtype)) == 32;
    if (!used[i] || by_row[i] || e.kind == ExprKind::constant || !is_word) continue;
    kept.push_back({static_cast<int32_t>(i), by_column[i], place});
    place += by_column[i] ? tile_.vectors : 1;
  }
  return kept;
}

llvm::Value* TileEpilogue::kept_pointer(const Kept& kept, size_t vector) {
  const int64_t place = kept.place + (kept.by_column ? static_cast<int64_t>(vector) : 0);
  return emitter_.at(frame_.kept, place * frame_.vector_bytes(DType::f32));
}

void TileEpilogue::keep(const Values& masks) {
  const Row any{emitter_.i64(0), {}};
  const auto leaf_at = [&](size_t vector, llvm::Value* mask) {
    return [this, &any, vector, mask](int32_t index) {
      return leaf(nest_.exprs.at(static_cast<size_t>(index)), any, vector, mask);
    };
  };
  const auto store = [&](Expressions& expressions, bool by_column, size_t vector) {
    for (const Kept& kept : kept_)
      if (kept.by_column == by_column)
        builder_.CreateAlignedStore(expressions.value(kept.expr), kept_pointer(kept, vector), llvm::Align(4));
  };
  starts_.assign(nest_.accesses.size(), nullptr);
  Expressions everywhere(emitter_, nest_, leaf_at(0, nullptr));
  store(everywhere, false, 0);
  for (size_t v = 0; v < masks.size(); ++v) {
    Expressions column(everywhere, leaf_at(v, masks[v]));
    store(column, true, v);
  }
}

void TileEpilogue::prepare() {
  if (runs_in_registers(frame_)) return;
  kept_ = find_kept();
  if (kept_.empty()) return;
  const int64_t count = kept_.back().place + (kept_.back().by_column ? tile_.vectors : 1);
  frame_.kept = emitter_.stack(count * frame_.vector_bytes(DType::f32));
  auto* last = builder_.CreateICmpNE(emitter_.member_i32(offsetof(TileCall, last)), builder_.getInt32(0));
  auto* whole = is_whole();
  emitter_.if_then(builder_.CreateAnd(last, whole), [&] { keep(no_masks()); });
  emitter_.if_then(builder_.CreateAnd(last, builder_.CreateNot(whole)), [&] { keep(all_masks()); });
}

void TileEpilogue::row(const Row& row, const Values& masks) {
  starts_.assign(nest_.accesses.size(), nullptr);
  for (size_t v = 0; v < row.results.size(); ++v) {
    Expressions expressions(emitter_, nest_, [&](int32_t index) {
      return leaf(nest_.exprs.at(static_cast<size_t>(index)), row, v, masks[v]);
    });
    for (const Kept& kept : kept_) {
      auto* type = emitter_.vector_type(nest_.exprs.at(static_cast<size_t>(kept.expr)).dtype);
      expressions.set(kept.expr, builder_.CreateAlignedLoad(type, kept_pointer(kept, v), llvm::Align(4)));
    }
    for (const auto& store : nest_.stores)
      emitter_.store_vector(nest_.accesses.at(static_cast<size_t>(store.access)).dtype,
                            expressions.value(store.expr), pointer(store.access, row.number, v), masks[v]);
  }
}

void TileEpilogue::in_registers(const Accumulators& results, const Values& masks) {
  const auto vectors = static_cast<ptrdiff_t>(tile_.vectors);
  for (ptrdiff_t r = 0; r < tile_.rows; ++r)
    row({emitter_.i64(r), Values(results.begin() + r * vectors, results.begin() + (r + 1) * vectors)}, masks);
}

void TileEpilogue::row_by_row(llvm::Value* buffer, bool masked) {
  const DType dtype = frame_.accumulator_dtype();
  const int64_t vector_bytes = frame_.vector_bytes(DType::f32);
  emitter_.loop(emitter_.i64(0), emitter_.i64(tile_.rows), 1, [&](llvm::Value* number) {
    auto* start = emitter_.at(buffer, builder_.CreateMul(number, emitter_.i64(tile_.vectors * vector_bytes)));
    Values results;
    for (int64_t v = 0; v < tile_.vectors; ++v)
      results.push_back(emitter_.load_vector(dtype, emitter_.at(start, v * vector_bytes), nullptr));
    row({number, std::move(results)}, masked ? all_masks() : no_masks());
  });
}

llvm::Value* TileEpilogue::is_whole() {
  return builder_.CreateICmpSGE(columns_,
                                emitter_.i64(static_cast<int64_t>(tile_.vectors) * emitter_.lanes()));
}

void TileEpilogue::run(llvm::Value* buffer) {
  auto* whole = is_whole();
  emitter_.if_then(whole, [&] { row_by_row(buffer, false); });
  emitter_.if_then(builder_.CreateNot(whole), [&] { row_by_row(buffer, true); });
}

llvm::Value* TileEpilogue::spill(const Accumulators& results) {
  auto* buffer = emitter_.stack(frame_.accumulator_bytes());
  for (size_t i = 0; i < results.size(); ++i)
    builder_.CreateAlignedStore(
        results[i], emitter_.at(buffer, static_cast<int64_t>(i) * frame_.vector_bytes(DType::f32)),
        llvm::Align(4));
  return buffer;
}

// Masks of AVX2 would take registers from the results.
void TileEpilogue::finish(const Accumulators& results, bool whole) {
  const bool has_mask_registers = emitter_.target().level >= IsaLevel::avx512;
  if (runs_in_registers(frame_) && (whole || has_mask_registers))
    return in_registers(results, whole ? no_masks() : all_masks());
  row_by_row(spill(results), !whole);
}

// Where both forms read the buffer, nothing keeps the results in registers.
void TileEpilogue::run(const Accumulators& results, std::optional<bool> whole) {
  if (tile_.window.taps != 0) find_rows();
  if (whole) return finish(results, *whole);
  auto* all = is_whole();
  if (!runs_in_registers(frame_) && keeps_registers(frame_)) {
    emitter_.if_then(all, [&] { in_registers(results, no_masks()); });
    emitter_.if_then(builder_.CreateNot(all), [&] { row_by_row(spill(results), true); });
    return;
  }
  if (!runs_in_registers(frame_)) return run(spill(results));
  emitter_.if_then(all, [&] { finish(results, true); });
  emitter_.if_then(builder_.CreateNot(all), [&] { finish(results, false); });
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

void emit_tile_prepare(TileFrame& frame) { TileEpilogue(frame).prepare(); }

void emit_tile_fetch(TileFrame& frame) { TileEpilogue(frame).fetch(); }

void emit_tile_epilogue(TileFrame& frame, const Accumulators& results, std::optional<bool> whole) {
  TileEpilogue(frame).run(results, whole);
}
void emit_tile_epilogue(TileFrame& frame, llvm::Value* results) { TileEpilogue(frame).run(results); }

}  // namespace ingot::kernel
