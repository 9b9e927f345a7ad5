// Windows that slide along one axis: the rows of a tile are neighbours along it, so what one row reads for
// one tap, another reads for another. Each position is loaded once for all of them, while the weights of a
// row of taps stay in registers.
#include <cstddef>

#include "kernel/llvm/emit_tile.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

class SlidingEmitter {
 public:
  explicit SlidingEmitter(TileFrame& frame)
      : frame_(frame), emitter_(frame.emitter), builder_(emitter_.builder()), tile_(frame.tile), op_(frame) {}

  void run();

 private:
  // What is known of a tile before it is computed.
  struct Case {
    bool inside;  // all positions are of the input
    bool whole;   // all columns are valid
  };

  void one_tile(llvm::Value* tile);
  void compute(llvm::Value* tile, Case known);
  Values row_of_taps(llvm::Value* a, llvm::Value* b, Values results);
  void combine_at(int64_t position, llvm::Value* place, const std::vector<Values>& weights, Values& results);
  llvm::Value* place_of(int64_t position, llvm::Value* a);
  Values masks();
  llvm::Value* member(llvm::Value* tile, size_t offset) {
    return builder_.CreateLoad(builder_.getInt64Ty(), emitter_.at(tile, static_cast<int64_t>(offset)));
  }
  llvm::Value* pointer_member(llvm::Value* tile, size_t offset) {
    return builder_.CreateLoad(builder_.getPtrTy(), emitter_.at(tile, static_cast<int64_t>(offset)));
  }
  int64_t reach() const {  // positions that a tile reads
    return (tile_.rows - 1) * tile_.window.step + (tile_.window.taps - 1) * tile_.window.dilation + 1;
  }
  // The row that reads a position for a tap, or -1.
  int64_t row_at(int64_t position, int64_t tap) const {
    const int64_t first = position - tap * tile_.window.dilation;
    const int64_t row = first / tile_.window.step;
    return first >= 0 && first % tile_.window.step == 0 && row < tile_.rows ? row : -1;
  }

  TileFrame& frame_;
  FunctionEmitter& emitter_;
  llvm::IRBuilder<>& builder_;
  const TileKernel& tile_;
  WindowOp op_;
  llvm::Value* skipped_ = nullptr;  // bytes of the columns before the tile's
  llvm::Value* step_ = nullptr;     // bytes between positions
  llvm::Value* low_ = nullptr;      // positions of the input; null where all are
  llvm::Value* extent_ = nullptr;
  Values masks_;
};

Values SlidingEmitter::masks() {
  Values result;
  auto* columns = emitter_.member_i64(offsetof(TileCall, columns));
  for (int64_t v = 0; v < tile_.vectors; ++v)
    result.push_back(emitter_.lane_mask(builder_.CreateSub(columns, emitter_.i64(v * emitter_.lanes()))));
  return result;
}

llvm::Value* SlidingEmitter::place_of(int64_t position, llvm::Value* a) {
  auto* place = emitter_.at(a, builder_.CreateMul(step_, emitter_.i64(position)));
  if (low_ == nullptr) return place;
  auto* inside = builder_.CreateICmpULT(builder_.CreateSub(emitter_.i64(position), low_), extent_);
  return builder_.CreateSelect(inside, place, emitter_.member_pointer(offsetof(TileCall, padding)));
}

void SlidingEmitter::combine_at(int64_t position, llvm::Value* place, const std::vector<Values>& weights,
                                Values& results) {
  const auto vectors = static_cast<size_t>(tile_.vectors);
  for (size_t v = 0; v < vectors; ++v) {
    auto* a =
        op_.load_a(emitter_.at(place, static_cast<int64_t>(v) * frame_.vector_bytes(tile_.a)), masks_[v]);
    for (size_t tap = 0; tap < weights.size(); ++tap) {
      const int64_t row = row_at(position, static_cast<int64_t>(tap));
      if (row < 0) continue;
      auto& result = results[static_cast<size_t>(row) * vectors + v];
      result = op_.combine(a, weights[tap][v], result);
    }
  }
}

// Positions ascend, so that each row meets its taps in order.
Values SlidingEmitter::row_of_taps(llvm::Value* a, llvm::Value* b, Values results) {
  std::vector<Values> weights(static_cast<size_t>(tile_.window.taps));
  int64_t bytes = 0;
  for (Values& tap : weights)
    for (int64_t v = 0; v < tile_.vectors; ++v, bytes += frame_.vector_bytes(tile_.b))
      tap.push_back(op_.load_weight(emitter_.at(b, bytes)));
  for (int64_t position = 0; position < reach(); ++position) {
    bool is_read = false;
    for (int64_t tap = 0; tap < tile_.window.taps; ++tap) is_read = is_read || row_at(position, tap) >= 0;
    if (is_read) combine_at(position, place_of(position, a), weights, results);
  }
  return results;
}

void SlidingEmitter::compute(llvm::Value* tile, Case known) {
  low_ = known.inside ? nullptr : member(tile, offsetof(WindowTile, low));
  if (low_ != nullptr) extent_ = builder_.CreateSub(member(tile, offsetof(WindowTile, high)), low_);
  masks_ = known.whole ? Values(static_cast<size_t>(tile_.vectors), nullptr) : masks();
  auto* a = emitter_.at(pointer_member(tile, offsetof(WindowTile, a)), skipped_);
  auto* taps = pointer_member(tile, offsetof(WindowTile, taps));
  auto* b = emitter_.member_pointer(offsetof(TileCall, b));
  constexpr int64_t kTap = sizeof(TileTap);
  auto* end = builder_.CreateMul(member(tile, offsetof(WindowTile, tap_count)), emitter_.i64(kTap));
  const auto one = [&](llvm::Value* i, Values results) {
    auto* tap = emitter_.at(taps, i);
    return row_of_taps(emitter_.at(a, member(tap, offsetof(TileTap, a))),
                       emitter_.at(b, member(tap, offsetof(TileTap, b))), std::move(results));
  };
  const Accumulators results = emitter_.loop(emitter_.i64(0), end, kTap, initial_results(frame_), one);
  emit_tile_epilogue(frame_, results, known.whole);
}

void SlidingEmitter::one_tile(llvm::Value* tile) {
  auto* whole = builder_.CreateICmpSGE(emitter_.member_i64(offsetof(TileCall, columns)),
                                       emitter_.i64(static_cast<int64_t>(tile_.vectors) * emitter_.lanes()));
  auto* inside = builder_.CreateAnd(
      builder_.CreateICmpSLE(member(tile, offsetof(WindowTile, low)), emitter_.i64(0)),
      builder_.CreateICmpSGE(member(tile, offsetof(WindowTile, high)), emitter_.i64(reach())));
  emitter_.if_then(builder_.CreateAnd(whole, inside),
                   [&] { compute(tile, {.inside = true, .whole = true}); });
  emitter_.if_then(builder_.CreateAnd(whole, builder_.CreateNot(inside)),
                   [&] { compute(tile, {.inside = false, .whole = true}); });
  emitter_.if_then(builder_.CreateNot(whole), [&] { compute(tile, {.inside = false, .whole = false}); });
}

void SlidingEmitter::run() {
  skipped_ = builder_.CreateMul(emitter_.member_i64(offsetof(TileCall, column)),
                                emitter_.i64(bit_width(tile_.a) / 8));
  step_ = emitter_.member_i64(offsetof(TileCall, a_step));
  const Values start{emitter_.member_pointer(offsetof(TileCall, windows)),
                     emitter_.member_pointer(offsetof(TileCall, memory))};
  const auto one = [&](llvm::Value*, const Values& at) -> Values {
    frame_.memory = at[1];
    one_tile(at[0]);
    return {emitter_.at(at[0], sizeof(WindowTile)), emitter_.at(at[1], sizeof(void*))};
  };
  emitter_.loop(emitter_.i64(0), emitter_.member_i64(offsetof(TileCall, tiles)), 1, start, one, true);
}

}  // namespace

void emit_sliding_tiles(TileFrame& frame) { SlidingEmitter(frame).run(); }

}  // namespace ingot::kernel
