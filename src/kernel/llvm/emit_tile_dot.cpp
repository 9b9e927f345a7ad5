// The loops of matrix products and convolutions: taps outside, depth inside. The loop over taps stays a loop:
// unrolled, neighbouring taps share their loads of `a`, and what is kept for that no longer fits the
// registers.
#include <algorithm>
#include <cstddef>

#include "kernel/llvm/emit_tile.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

constexpr int64_t kUnroll = kTileTurn;  // steps in one turn of the main loop
constexpr int64_t kCacheLine = 64;

class DotEmitter {
 public:
  explicit DotEmitter(TileFrame& frame)
      : frame_(frame),
        emitter_(frame.emitter),
        builder_(emitter_.builder()),
        tile_(frame.tile),
        step_(emitter_, tile_) {
    b_stride_ = tile_.packed ? emitter_.i64(tile_.vectors * step_.b_vector_bytes())
                             : emitter_.member_i64(offsetof(TileCall, b_stride));
    next_step_ = emitter_.member_i64(offsetof(TileCall, next_step));
    steps_ = step_.count(emitter_.member_i64(offsetof(TileCall, depth)));
  }

  Accumulators run(Accumulators sums);

 private:
  // What changes along the way: the sums, then the places in b and in what is fetched ahead.
  struct State {
    Accumulators sums;
    llvm::Value* b;
    llvm::Value* next;

    Values flat() const;
    static State of(Values values);
  };

  State tap(llvm::Value* index, State state);
  State turn(const Values& rows, llvm::Value* a_offset, int64_t steps, State state);
  void one_step(const Values& rows, llvm::Value* a_offset, int64_t number, llvm::Value* b,
                Accumulators& sums);
  void fetch(llvm::Value* b, int64_t index);
  size_t sets() const { return static_cast<size_t>(sums_per_element(tile_.rows, tile_.vectors)); }
  // Few rows use b faster than it comes by itself.
  bool streams() const { return tile_.rows <= 3; }
  Accumulators join(const Accumulators& sums);

  TileFrame& frame_;
  FunctionEmitter& emitter_;
  llvm::IRBuilder<>& builder_;
  const TileKernel& tile_;
  DotStep step_;
  llvm::Value* b_stride_;
  llvm::Value* ahead_ = nullptr;
  llvm::Value* steps_;
  llvm::Value* next_step_;
};

Values DotEmitter::State::flat() const {
  Values values = sums;
  values.push_back(b);
  values.push_back(next);
  return values;
}

DotEmitter::State DotEmitter::State::of(Values values) {
  State state;
  state.next = values.back();
  values.pop_back();
  state.b = values.back();
  values.pop_back();
  state.sums = std::move(values);
  return state;
}

Accumulators DotEmitter::join(const Accumulators& sums) {
  const size_t count = frame_.accumulators();
  Accumulators joined(sums.begin(), sums.begin() + static_cast<ptrdiff_t>(count));
  for (size_t i = count; i < sums.size(); ++i) {
    auto& sum = joined[i % count];
    sum = sum->getType()->isFPOrFPVectorTy() ? builder_.CreateFAdd(sum, sums[i])
                                             : builder_.CreateAdd(sum, sums[i]);
  }
  return joined;
}

void DotEmitter::fetch(llvm::Value* b, int64_t index) {
  emitter_.prefetch(emitter_.at(emitter_.at(b, ahead_), index * kCacheLine), 3);
}

void DotEmitter::one_step(const Values& rows, llvm::Value* a_offset, int64_t number, llvm::Value* b,
                          Accumulators& sums) {
  const size_t vectors = static_cast<size_t>(tile_.vectors);
  const size_t set = static_cast<size_t>(number) % sets() * frame_.accumulators();
  const int64_t lines = (tile_.vectors * step_.b_vector_bytes() + kCacheLine - 1) / kCacheLine;
  Values columns;
  for (size_t v = 0; v < vectors; ++v)
    columns.push_back(step_.load_b(emitter_.at(b, static_cast<int64_t>(v) * step_.b_vector_bytes())));
  for (size_t r = 0; r < rows.size(); ++r) {
    auto* a = step_.load_a(emitter_.at(emitter_.at(rows[r], a_offset), number * step_.a_bytes()));
    for (size_t v = 0; v < vectors; ++v) {
      auto& sum = sums[set + r * vectors + v];
      sum = step_.multiply_add(a, columns[v], sum);
    }
    if (streams())
      for (int64_t line = static_cast<int64_t>(r); line < lines; line += tile_.rows) fetch(b, line);
  }
}

DotEmitter::State DotEmitter::turn(const Values& rows, llvm::Value* a_offset, int64_t steps, State state) {
  if (steps == kUnroll) state.next = frame_.fetch_next(state.next, next_step_);
  for (int64_t number = 0; number < steps; ++number) {
    one_step(rows, a_offset, number, state.b, state.sums);
    state.b = emitter_.at(state.b, b_stride_);
  }
  return state;
}

DotEmitter::State DotEmitter::tap(llvm::Value* index, State state) {
  const TileFrame::Tap at = frame_.tap(index);
  state.b = at.b;
  auto* end = builder_.CreateMul(steps_, emitter_.i64(step_.a_bytes()));
  auto* main_end = builder_.CreateAnd(end, emitter_.i64(-kUnroll * step_.a_bytes()));
  auto loop = [&](llvm::Value* low, llvm::Value* high, int64_t steps, State from) {
    return State::of(emitter_.loop(
        low, high, steps * step_.a_bytes(), from.flat(),
        [&](llvm::Value* i, Values v) { return turn(at.rows, i, steps, State::of(std::move(v))).flat(); }));
  };
  state = loop(emitter_.i64(0), main_end, kUnroll, std::move(state));
  return loop(main_end, end, 1, std::move(state));
}

Accumulators DotEmitter::run(Accumulators sums) {
  constexpr int64_t kStepsAhead = 64;  // nearer ones come too late from memory
  ahead_ = builder_.CreateMul(b_stride_, emitter_.i64(kStepsAhead));
  auto* zero = llvm::Constant::getNullValue(sums.front()->getType());
  sums.resize(frame_.accumulators() * sets(), zero);
  sums.push_back(frame_.next_b);
  auto* taps = emitter_.member_i64(offsetof(TileCall, tap_count));
  const auto one = [&](llvm::Value* index, Values values) {
    State state{.sums = {}, .b = nullptr, .next = values.back()};
    values.pop_back();
    state.sums = std::move(values);
    state = tap(index, std::move(state));
    state.sums.push_back(state.next);
    return state.sums;
  };
  sums = emitter_.loop(emitter_.i64(0), taps, 1, std::move(sums), one, true);
  frame_.next_b = sums.back();
  sums.pop_back();
  return join(sums);
}

}  // namespace

Accumulators emit_dot(TileFrame& frame, Accumulators sums) { return DotEmitter(frame).run(std::move(sums)); }

}  // namespace ingot::kernel
