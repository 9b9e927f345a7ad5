#include <algorithm>
#include <cstring>

#include "device/cpu/tile_plan.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kCacheLine = 64;

}  // namespace

// One thread's walk over chunks of a plan.
class TileRun {
 public:
  TileRun(const TilePlan& plan, std::byte* const* memory, std::byte* scratch)
      : plan_(plan), problem_(plan.problem_), memory_(memory), scratch_(scratch) {
    call_.sizes = problem_.sizes.data();
    call_.memory_step = call_.inside_step = plan.rows_together();
    call_.padding = plan.padding_.data();
  }

  void chunk(int64_t index);

 private:
  using Block = TilePlan::Block;
  using Run = TilePlan::Run;
  struct Range {
    int64_t begin, end;
  };

  template <class T>
  T* at(int64_t offset) const {
    return reinterpret_cast<T*>(scratch_ + offset);
  }
  static Range share(int64_t count, int64_t pieces, int64_t index) {
    return {count * index / pieces, count * (index + 1) / pieces};
  }

  void outer(int64_t index, Range tiles, Range panels);
  void panels_with(const Block& block, Range tiles, Range panels);
  void set_block(const Block& block, Range tiles, Range panels);
  void fetch_ahead(const std::byte* from, int64_t bytes, Range tiles, int64_t panels);
  void start_rows(int64_t row);
  void list_rows(Range tiles);
  void list_beyond(int64_t row, int64_t rows);
  bool mark(TileRows::Position& at, int64_t tile, uint64_t* masks);
  int64_t fill_runs(const Block& block, Range tiles);
  void leave_out_taps(const Block& block, Run& run, const uint64_t* masks);
  void call(int64_t panel, const Run* runs, int64_t count);
  void set_b(int64_t panel);
  void pack_tail();
  const std::byte* panel_of(int64_t panel) const;
  const std::byte* base(const TilePlace& place) const;

  const TilePlan& plan_;
  const TileProblem& problem_;
  std::byte* const* memory_;
  std::byte* scratch_;
  kernel::TileCall call_;
  TileRows::Cursor cursor_;
  kernel::TileTap* spare_taps_ = nullptr;
  uint64_t pure_mask_ = 0;  // that the last list of taps for rows alike was made for; 0: none yet
  const kernel::TileTap* pure_taps_ = nullptr;
  int64_t pure_count_ = 0;
  std::array<int64_t, kOuterDims> outer_ = {};
  const std::byte* b_ = nullptr;
  const Block* block_ = nullptr;
  bool has_tail_ = false;

  // What the calls fetch ahead: the b of the next panels or block, in pieces of the same size.
  const std::byte* next_ = nullptr;
  const std::byte* next_end_ = nullptr;
  int64_t next_step_ = 0;
};

const std::byte* TileRun::base(const TilePlace& place) const {
  const std::byte* start = memory_[place.slot] + place.offset;
  for (size_t i = 0; i < kOuterDims; ++i) start += outer_[i] * place.outer[i];
  return start;
}

const std::byte* TileRun::panel_of(int64_t panel) const {
  return b_ + panel * plan_.k_bytes() * (plan_.types_.packed ? problem_.tap_count() * problem_.depth : 1);
}

// Chunks that follow each other share their panels, which stay in the cache.
void TileRun::chunk(int64_t index) {
  const Range tiles = share(plan_.tile_count_, plan_.row_chunks_, index % plan_.row_chunks_);
  index /= plan_.row_chunks_;
  const Range panels = share(plan_.panel_count_, plan_.panel_chunks_, index % plan_.panel_chunks_);
  const Range outers = share(plan_.outer_count_, plan_.outer_chunks_, index / plan_.panel_chunks_);
  for (int64_t i = outers.begin; i < outers.end; ++i) outer(i, tiles, panels);
}

void TileRun::outer(int64_t index, Range tiles, Range panels) {
  for (size_t i = kOuterDims; i-- > 0;) {
    if (problem_.outer[i] == 1) continue;
    outer_[i] = index % problem_.outer[i];
    index /= problem_.outer[i];
  }
  b_ = plan_.reads_b() ? base(problem_.b) : nullptr;
  has_tail_ = !plan_.types_.packed && problem_.columns % plan_.choice_.columns() != 0;
  if (has_tail_ && panels.end == plan_.panel_count_) pack_tail();
  for (int64_t first = panels.begin; first < panels.end; first += plan_.panels_together_) {
    const Range together{first, std::min(first + plan_.panels_together_, panels.end)};
    for (const Block& block : plan_.blocks_) panels_with(block, tiles, together);
  }
}

// Rows of the last panel, zeros behind them, where reading on would leave b.
void TileRun::pack_tail() {
  const int64_t width = plan_.k_bytes();
  const int64_t valid = problem_.columns % plan_.choice_.columns() * width / plan_.choice_.columns();
  const std::byte* from = b_ + (plan_.panel_count_ - 1) * width;
  auto* to = at<std::byte>(plan_.scratch_.tail);
  for (int64_t k = 0; k < problem_.depth; ++k, to += width, from += problem_.b_stride) {
    std::memcpy(to, from, static_cast<size_t>(valid));
    std::memset(to + valid, 0, static_cast<size_t>(width - valid));
  }
}

void TileRun::panels_with(const Block& block, Range tiles, Range panels) {
  set_block(block, tiles, panels);
  start_rows(plan_.first_row(tiles.begin));
  for (int64_t first = tiles.begin; first < tiles.end; first += plan_.tiles_together_) {
    const Range together{first, std::min(first + plan_.tiles_together_, tiles.end)};
    const int64_t runs = fill_runs(block, together);
    auto* partial = call_.partial;
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
      call_.partial = partial;
      call(panel, at<Run>(plan_.scratch_.runs), runs);
    }
  }
}

void TileRun::set_block(const Block& block, Range tiles, Range panels) {
  block_ = &block;
  const bool is_last = &block == &plan_.blocks_.back();
  call_.first = &block == &plan_.blocks_.front();
  call_.last = is_last;
  call_.depth = block.depth;
  call_.partial = at<float>(plan_.scratch_.partial);
  next_ = next_end_ = nullptr;
  if (!plan_.reduces_depth() || !plan_.types_.packed) return;
  const int64_t count = panels.end - panels.begin;
  if (is_last && panels.end < plan_.panel_count_) {
    const int64_t most = (plan_.panel_count_ + plan_.panel_chunks_ - 1) / plan_.panel_chunks_;
    const int64_t next = std::min({most, plan_.panels_together_, plan_.panel_count_ - panels.end});
    fetch_ahead(panel_of(panels.end) + plan_.blocks_.front().taps.front().b,
                panel_of(panels.end + next) - panel_of(panels.end), tiles, count);
  } else if (!is_last) {
    const Block& next = (&block)[1];
    fetch_ahead(panel_of(panels.begin) + next.taps.front().b, next.tap_count * next.depth * plan_.k_bytes(),
                tiles, count);
  }
}

// Chunks that share panels fetch a part each of what comes next, evenly over their turns of the depth.
void TileRun::fetch_ahead(const std::byte* from, int64_t bytes, Range tiles, int64_t panels) {
  const int64_t lines = (bytes + kCacheLine - 1) / kCacheLine;
  const Range share{lines * tiles.begin / plan_.tile_count_, lines * tiles.end / plan_.tile_count_};
  next_ = from + share.begin * kCacheLine;
  next_end_ = from + share.end * kCacheLine;
  const int64_t steps = block_->depth / plan_.k_per_step();
  const int64_t turns = (tiles.end - tiles.begin) * panels * block_->tap_count * (steps / kernel::kTileTurn);
  const int64_t each = turns == 0 ? 1 : (share.end - share.begin + turns - 1) / turns;
  next_step_ = kCacheLine * std::min(each, kernel::kMostTileFetches);
}

void TileRun::start_rows(int64_t row) {
  cursor_.at = {};
  cursor_.places = at<std::byte*>(plan_.scratch_.walk);
  cursor_.places[0] = const_cast<std::byte*>(base(problem_.a));
  for (const RowAxis& axis : problem_.rows) cursor_.places[0] -= axis.before * axis.stride;
  for (size_t i = 0; i < problem_.accesses.size(); ++i)
    cursor_.places[i + 1] = const_cast<std::byte*>(base(problem_.accesses[i].place));
  if (row != 0) plan_.rows_.seek(cursor_, row);
}

// The places of the rows of some tiles.
void TileRun::list_rows(Range tiles) {
  auto* a_rows = at<const std::byte*>(plan_.scratch_.a_rows);
  auto* memory = at<std::byte*>(plan_.scratch_.memory);
  const int64_t step = plan_.rows_together();
  if (!plan_.stands_in_) {
    const int64_t rows = plan_.first_row(tiles.end) - plan_.first_row(tiles.begin);
    return plan_.rows_.list(cursor_, rows, a_rows, memory, step);
  }
  int64_t row = 0;
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const int64_t height = plan_.height(tile), computed = plan_.tile_of(tile).rows;
    plan_.rows_.list(cursor_, height, a_rows + row, memory + row, step);
    plan_.rows_.list_fixed(cursor_, memory + row, step);  // of a single row, all are
    list_beyond(row + height, computed - height);
    row += computed;
  }
}

// Rows that a stand-in computes beyond those of its tile are the last of them again.
void TileRun::list_beyond(int64_t row, int64_t rows) {
  auto* a_rows = at<const std::byte*>(plan_.scratch_.a_rows);
  auto* memory = at<std::byte*>(plan_.scratch_.memory);
  for (int64_t i = row; i < row + rows; ++i) {
    a_rows[i] = a_rows[row - 1];
    for (size_t p = 0; p < problem_.accesses.size(); ++p) {
      std::byte** places = memory + static_cast<int64_t>(p) * plan_.rows_together();
      places[i] = plan_.scratch_.spare < 0 ? places[row - 1] : at<std::byte>(plan_.scratch_.spare);
    }
  }
}

// As TileRows::mark, for all rows that the call computes.
bool TileRun::mark(TileRows::Position& at, int64_t tile, uint64_t* masks) {
  const int64_t height = plan_.height(tile), step = plan_.rows_together();
  const bool pads = plan_.rows_.mark(at, height, masks, step);
  if (pads && plan_.stands_in(tile))
    for (size_t word = 0; word < plan_.rows_.words(); ++word) {
      uint64_t* row_masks = masks + static_cast<int64_t>(word) * step;
      std::fill(row_masks + height, row_masks + plan_.tile_of(tile).rows, row_masks[height - 1]);
    }
  return pads;
}

// Lists the rows of some tiles, as runs of tiles that one call can take: of one height and with the same
// taps.
int64_t TileRun::fill_runs(const Block& block, Range tiles) {
  const TileRows& rows = plan_.rows_;
  TileRows::Position position = cursor_.at;
  list_rows(tiles);
  auto* masks = at<uint64_t>(plan_.scratch_.inside);
  auto* runs = at<Run>(plan_.scratch_.runs);
  spare_taps_ = at<kernel::TileTap>(plan_.scratch_.taps);
  pure_mask_ = 0;
  int64_t count = 0;
  int64_t row = 0;
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    Run run{.tiles = 1,
            .tile = plan_.tile_of(tile),
            .first_row = row,
            .padded = false,
            .tap_count = block.tap_count,
            .taps = block.taps.data()};
    if (rows.has_padding()) run.padded = mark(position, tile, masks + row);
    if (run.padded && plan_.padding_adds_nothing_) leave_out_taps(block, run, masks + row);
    row += run.tile.rows;
    Run* last = runs + count - 1;
    if (count != 0 && last->tile.rows == run.tile.rows && last->padded == run.padded &&
        last->taps == run.taps)
      ++last->tiles;
    else {
      rows.list_fixed(cursor_, at<std::byte*>(plan_.scratch_.memory) + run.first_row, plan_.rows_together());
      runs[count++] = run;
    }
  }
  return count;
}

// Taps for which all rows of the tile read padding. Where its rows agree, nothing is left to choose in the
// kernel.
void TileRun::leave_out_taps(const Block& block, Run& run, const uint64_t* masks) {
  constexpr int64_t kWordBits = 64;
  int64_t word = -1;
  uint64_t any = 0;
  const auto reads_input = [&](const kernel::TileTap& tap) {
    if (tap.number / kWordBits != word) {
      word = tap.number / kWordBits;
      any = 0;
      for (int64_t row = 0; row < run.tile.rows; ++row) any |= masks[word * plan_.rows_together() + row];
    }
    return (any >> (tap.number % kWordBits) & 1) != 0;
  };
  const bool is_pure =
      plan_.rows_.words() == 1 &&
      std::all_of(masks, masks + run.tile.rows, [&](uint64_t mask) { return mask == masks[0]; });
  if (is_pure && pure_mask_ != 0 && masks[0] == pure_mask_) {
    run.taps = pure_taps_;
    run.tap_count = pure_count_;
    run.padded = false;
    return;
  }
  if (std::all_of(block.taps.begin(), block.taps.end(), reads_input)) {
    run.padded = !is_pure;
    return;
  }
  run.taps = spare_taps_;
  spare_taps_ = std::copy_if(block.taps.begin(), block.taps.end(), spare_taps_, reads_input);
  const bool reads_any = spare_taps_ != run.taps;
  if (!reads_any) *spare_taps_++ = block.taps.front();  // one is needed
  run.tap_count = spare_taps_ - run.taps;
  if (!is_pure || !reads_any) return;
  run.padded = false;
  pure_mask_ = masks[0];
  pure_taps_ = run.taps;
  pure_count_ = run.tap_count;
}

void TileRun::set_b(int64_t panel) {
  call_.b_stride = problem_.b_stride;
  if (!plan_.reads_b()) return;
  call_.b = panel_of(panel);
  if (!has_tail_ || panel != plan_.panel_count_ - 1) return;
  call_.b_stride = plan_.k_bytes();
  call_.b = at<std::byte>(plan_.scratch_.tail) + block_->first_k * plan_.k_bytes() - block_->taps.front().b;
}

void TileRun::call(int64_t panel, const Run* runs, int64_t count) {
  set_b(panel);
  call_.column = panel * plan_.choice_.columns();
  call_.columns = std::min(plan_.choice_.columns(), problem_.columns - call_.column);
  for (const Run* run = runs; run != runs + count; ++run) {
    call_.tiles = run->tiles;
    call_.a_rows = at<const std::byte*>(plan_.scratch_.a_rows) + run->first_row;
    call_.inside = run->padded ? at<uint64_t>(plan_.scratch_.inside) + run->first_row : nullptr;
    call_.taps = run->taps;
    call_.tap_count = run->tap_count;
    call_.memory = at<std::byte*>(plan_.scratch_.memory) + run->first_row;
    const bool fetches = next_ < next_end_;
    call_.next_b = fetches ? next_ : reinterpret_cast<const std::byte*>(&call_);
    call_.next_step = fetches ? next_step_ : 0;
    const int64_t steps = block_->depth / plan_.k_per_step();
    next_ += run->tiles * run->tap_count * (steps / kernel::kTileTurn) * call_.next_step;
    run->tile.function(&call_);
    call_.partial += run->tiles * run->tile.rows * plan_.choice_.columns();
  }
}

void TilePlan::run(std::byte* const* memory, int64_t begin, int64_t end, std::byte* scratch) const {
  TileRun run(*this, memory, scratch);
  for (int64_t index = begin; index < end; ++index) run.chunk(index);
}

}  // namespace ingot::cpu
