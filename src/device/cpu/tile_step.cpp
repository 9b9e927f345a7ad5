#include "device/cpu/tile_step.h"

namespace ingot::cpu {
namespace {

constexpr size_t kMaxSlots = 64;

// What the planner assumes before kernels are linked; TilePlan says exactly, and never more.
constexpr int64_t kScratch = int64_t{1} << 20;

}  // namespace

TileStep::TileStep(KernelSet& kernels, TileWork work)
    : kernels_(kernels), work_(std::move(work)), family_(work_.types, work_.choice, work_.epilogue) {
  family_.want(kernels_, tile_heights(work_.problem, work_.choice));
  const TileProblem& p = work_.problem;
  const double outputs =
      static_cast<double>(p.outer[0] * p.outer[1] * p.outer[2] * p.row_count() * p.columns);
  cost.integers = is_integer(work_.types.a);
  cost.flops = 2 * outputs * static_cast<double>(p.tap_count() * p.depth);
  for (const Place& place : work_.places)
    cost.bytes += static_cast<double>(place.view.count()) * bit_width(place.view.dtype) / 8;
}

// How long the lines are decides on the width of tiles that slide.
void TileStep::add_standbys() {
  family_.add_standbys(kernels_);
  if (work_.choice.window.taps == 0) return;
  constexpr int64_t kLengths = 4 * kMaxTileRows;
  for (int64_t rows = 1; rows <= kLengths; ++rows) {
    const TileChoice choice =
        choose_window_tile(kernels_.target(), work_.types, work_.choice.window, rows, work_.problem.columns);
    if (choice != work_.choice) TileFamily(work_.types, choice, work_.epilogue).add_standbys(kernels_);
  }
}

void TileStep::link() {
  family_.link(kernels_);
  plan_ = make_tile_driver(work_.problem, work_.types, work_.choice, family_.functions());
}

int64_t TileStep::scratch_bytes() const { return plan_ ? plan_->scratch_bytes() : kScratch; }

void TileStep::run(const Frame& frame) const {
  std::array<std::byte*, kMaxSlots> memory;
  for (size_t i = 0; i < work_.places.size(); ++i)
    memory[i] = frame.at(work_.places[i].buffer, work_.places[i].offset);
  const int64_t chunks = plan_->chunks();
  if (chunks == 1) {
    plan_->run(memory.data(), 0, 1, frame.scratch_of(0));
    return;
  }
  frame.pool.parallel_for(chunks, 1, [&](int64_t begin, int64_t end, int thread) {
    plan_->run(memory.data(), begin, end, frame.scratch_of(thread));
  });
}

std::string TileStep::describe() const {
  const TileProblem& p = work_.problem;
  const int64_t outer = p.outer[0] * p.outer[1] * p.outer[2];
  return fmt::format("tile {}x{}, {}{} rows x {} columns, depth {}, {} taps, {} chunks", work_.choice.rows,
                     work_.choice.columns(), outer == 1 ? "" : fmt::format("{} times ", outer), p.row_count(),
                     p.columns, p.depth, p.tap_count(), plan_ ? plan_->chunks() : 0);
}

PackStep::PackStep(PackSource source, PackLayout layout, std::vector<int64_t> offsets, Place from, Place to)
    : source_(source), layout_(layout), offsets_(std::move(offsets)), from_(from), to_(to) {
  cost.bytes = static_cast<double>(2 * layout_.bytes() * static_cast<int64_t>(offsets_.size()));
}

void PackStep::run(const Frame& frame) const {
  const int64_t panels = layout_.panels();
  const int64_t grain =
      std::max<int64_t>(1, (int64_t{1} << 16) / std::max<int64_t>(1, layout_.panel_bytes()));
  const std::byte* from = frame.at(from_.buffer, from_.offset);
  std::byte* to = frame.at(to_.buffer, to_.offset);
  frame.pool.parallel_for(
      panels * static_cast<int64_t>(offsets_.size()), grain, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
          PackSource source = source_;
          source.data = from + offsets_[static_cast<size_t>(i / panels)];
          pack_panels(source, layout_, i % panels, i % panels + 1, to + i / panels * layout_.bytes());
        }
      });
}

std::string PackStep::describe() const {
  return fmt::format("pack {} x {}", layout_.columns, layout_.depth * layout_.taps);
}

}  // namespace ingot::cpu
