#include "kernel/llvm/reduction_walk.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

// Vectors lie along the last parallel axis: every lane folds a column of its own, and a block of vectors goes
// down the reduced axes together.
class ColumnEmitter {
 public:
  explicit ColumnEmitter(NestFrame& frame)
      : frame_(frame),
        nest_(frame.nest()),
        walks_(plan_walks(nest_)),
        axis_(static_cast<size_t>(nest_.vector_axis)) {
    auto* slot_bytes = lay_out_scratch(frame, walks_, nest_.axes.size(), frame.emitter().i64(kColumnBlock));
    for (int32_t w = 0; w < walks_.count; ++w) column_walks_.emplace_back(frame, walks_, w, slot_bytes);
  }

  void run() {
    int unroll = 4;
    for (const ReductionWalk& walk : column_walks_) unroll = std::min(unroll, walk.unroll(unroll));
    walk_outer(frame_, [&](const Place& place, std::optional<Range> range) {
      auto& emitter = frame_.emitter();
      auto& b = frame_.builder();
      const int64_t width = int64_t{unroll} * frame_.lanes();
      auto* count = b.CreateSub(range->high, range->low);
      auto* whole = b.CreateAdd(range->low, b.CreateAnd(count, emitter.i64(-width)));
      emitter.loop(range->low, whole, width, [&](llvm::Value* i) { block(i, place, unroll, nullptr); });
      emitter.loop(whole, range->high, width, [&](llvm::Value* i) {  // once at most
        block(i, place, unroll, b.CreateSub(range->high, i));
      });
    });
  }

 private:
  // `count`: how many columns there are in a ragged block.
  void block(llvm::Value* i, const Place& place, int vectors, llvm::Value* count) {
    const Place first = frame_.along(place, axis_, i);
    masks_.assign(static_cast<size_t>(vectors), nullptr);
    std::vector<Expressions> columns;
    for (int v = 0; v < vectors; ++v) {
      auto* left = count == nullptr
                       ? nullptr
                       : frame_.builder().CreateSub(count, frame_.emitter().i64(v * frame_.lanes()));
      if (left != nullptr) masks_[static_cast<size_t>(v)] = frame_.emitter().lane_mask(left);
      columns.emplace_back(frame_.emitter(), nest_, frame_.leaf(column(first, v), mask(v)));
    }
    for (ReductionWalk& walk : column_walks_)
      if (!walk.is_empty()) run_walk(walk, columns, first);
    for (int v = 0; v < vectors; ++v)
      store_totals(nest_, walks_, columns[static_cast<size_t>(v)],
                   [&](const Store& store, llvm::Value* value) {
                     frame_.store(store, column(first, v), value, mask(v));
                   });
  }

  llvm::Value* mask(int v) const { return masks_[static_cast<size_t>(v)]; }

  // Scratch keeps the vectors of a block side by side.
  Place column(const Place& first, int v) {
    Place place = frame_.further(first, axis_, int64_t{v} * frame_.lanes());
    if (place.scratch != nullptr)
      place.scratch =
          frame_.emitter().at(place.scratch, int64_t{v} * frame_.lanes() * int64_t{sizeof(float)});
    return place;
  }

  void run_walk(ReductionWalk& walk, std::vector<Expressions>& columns, const Place& first) {
    const auto vectors = static_cast<int>(columns.size());
    for (Expressions& values : columns) walk.prepare(values);
    const size_t inner = nest_.axes.size() - 1;
    const Values sums =
        loop_reduced(frame_, first, inner, walk.identities(vectors), [&](const Place& place, Values carried) {
          return go_down(walk, columns, place, std::move(carried));
        });
    for (size_t f = 0; f < walk.folds().size(); ++f)
      for (size_t v = 0; v < columns.size(); ++v)
        columns[v].set(walk.folds()[f], sums[f * columns.size() + v]);
  }

  // Down the last reduced axis. Sums are of runs, which are summed: long ones keep their accuracy.
  Values go_down(ReductionWalk& walk, const std::vector<Expressions>& columns, const Place& place,
                 Values carried) {
    constexpr int64_t kRun = 64;
    auto& emitter = frame_.emitter();
    auto& b = frame_.builder();
    const size_t inner = nest_.axes.size() - 1;
    auto* extent = frame_.extent(inner);
    const auto vectors = static_cast<int>(columns.size());
    auto run = [&](llvm::Value* i, Values sums) {
      auto* end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateAdd(i, emitter.i64(kRun)), extent);
      auto row = [&](llvm::Value* k, Values c) {
        return step(walk, columns, frame_.along(place, inner, k), std::move(c));
      };
      const Values part = emitter.loop(i, end, 1, walk.identities(vectors), row, true);
      for (size_t s = 0; s < sums.size(); ++s)
        sums[s] = walk.fold(walk.folds()[s / columns.size()], sums[s], part[s]);
      return sums;
    };
    return emitter.loop(emitter.i64(0), extent, kRun, std::move(carried), run);
  }

  Values step(ReductionWalk& walk, const std::vector<Expressions>& columns, const Place& place,
              Values carried) {
    const auto vectors = static_cast<int>(columns.size());
    std::vector<Values> results;
    for (int v = 0; v < vectors; ++v)
      results.push_back(
          walk.step(columns[static_cast<size_t>(v)], column(place, v), mask(v), carried, vectors, v));
    for (int v = 0; v < vectors; ++v)
      walk.finish_step(column(place, v), mask(v), results[static_cast<size_t>(v)]);
    return carried;
  }

  NestFrame& frame_;
  const LoopNest& nest_;
  Walks walks_;
  size_t axis_;
  std::vector<ReductionWalk> column_walks_;
  Values masks_;  // of the vectors of a block; null where whole
};

}  // namespace

void emit_columns(NestFrame& frame) { ColumnEmitter(frame).run(); }

}  // namespace ingot::kernel
