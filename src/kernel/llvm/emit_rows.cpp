#include "kernel/llvm/reduction_walk.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

// Vectors lie along the last reduced axis, a row; its lanes are folded at the end of each walk.
class RowEmitter {
 public:
  explicit RowEmitter(NestFrame& frame)
      : frame_(frame), nest_(frame.nest()), walks_(plan_walks(nest_)), axis_(nest_.axes.size() - 1) {
    auto& b = frame.builder();
    auto* padded = b.CreateAnd(b.CreateAdd(frame.extent(axis_), frame.emitter().i64(kRowPadding - 1)),
                               frame.emitter().i64(-kRowPadding));
    auto* slot_bytes = lay_out_scratch(frame, walks_, axis_, padded);
    for (int32_t w = 0; w < walks_.count; ++w) row_walks_.emplace_back(frame, walks_, w, slot_bytes);
  }

  void run() {
    walk_outer(frame_, [&](const Place& place, std::optional<Range> range) {
      if (!range) return row(place);
      const size_t last = *last_parallel_axis(nest_);
      frame_.emitter().loop(range->low, range->high, 1,
                            [&](llvm::Value* i) { row(frame_.along(place, last, i)); });
    });
  }

 private:
  void row(const Place& place) {
    Expressions values(frame_.emitter(), nest_, frame_.leaf(place, nullptr));
    for (ReductionWalk& walk : row_walks_)
      if (!walk.is_empty()) run_walk(walk, values, place);
    store_totals(nest_, walks_, values,
                 [&](const Store& store, llvm::Value* value) { frame_.store(store, place, value, nullptr); });
  }

  void run_walk(ReductionWalk& walk, Expressions& values, const Place& place) {
    walk.prepare(values);
    const int slots = walk.unroll(most_vectors());
    const Values sums =
        loop_reduced(frame_, place, axis_, walk.identities(slots), [&](const Place& start, Values carried) {
          const Range range{frame_.emitter().i64(0), frame_.extent(axis_)};
          return walk_vectors(frame_, range, slots, std::move(carried),
                              [&](llvm::Value* i, int vectors, llvm::Value* mask, Values c) {
                                const Place first = frame_.along(start, axis_, i);
                                return step(walk, values, first, vectors, mask, slots, std::move(c));
                              });
        });
    for (size_t f = 0; f < walk.folds().size(); ++f)
      values.set(walk.folds()[f],
                 total(walk, walk.folds()[f],
                       std::span(sums).subspan(f * static_cast<size_t>(slots), static_cast<size_t>(slots))));
  }

  // No more than there are in a row.
  int most_vectors() {
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(frame_.extent(axis_));
    return known == nullptr ? 4
                            : static_cast<int>(std::min<int64_t>(4, known->getSExtValue() / frame_.lanes()));
  }

  Values step(ReductionWalk& walk, const Expressions& values, const Place& first, int vectors,
              llvm::Value* mask, int slots, Values carried) {
    std::vector<Values> results;
    for (int v = 0; v < vectors; ++v)
      results.push_back(
          walk.step(values, frame_.further(first, axis_, v * frame_.lanes()), mask, carried, slots, v));
    for (int v = 0; v < vectors; ++v)
      walk.finish_step(frame_.further(first, axis_, v * frame_.lanes()), mask,
                       results[static_cast<size_t>(v)]);
    return carried;
  }

  // Of all vectors and lanes, in every lane.
  llvm::Value* total(ReductionWalk& walk, int32_t expr, std::span<llvm::Value* const> sums) {
    Values rest(sums.begin(), sums.end());
    for (; rest.size() > 1; rest.resize(rest.size() / 2))
      for (size_t i = 0; i < rest.size() / 2; ++i)
        rest[i] = walk.fold(expr, rest[i], rest[i + rest.size() / 2]);
    for (int distance = frame_.lanes() / 2; distance > 0; distance /= 2) {
      llvm::SmallVector<int> partner;
      for (int lane = 0; lane < frame_.lanes(); ++lane) partner.push_back(lane ^ distance);
      rest[0] = walk.fold(expr, rest[0], frame_.builder().CreateShuffleVector(rest[0], partner));
    }
    return rest[0];
  }

  NestFrame& frame_;
  const LoopNest& nest_;
  Walks walks_;
  size_t axis_;
  std::vector<ReductionWalk> row_walks_;
};

}  // namespace

void emit_rows(NestFrame& frame) { RowEmitter(frame).run(); }

}  // namespace ingot::kernel
