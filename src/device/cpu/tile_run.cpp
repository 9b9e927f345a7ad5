#include <algorithm>
#include <cstring>

#include "device/cpu/tile_plan.h"

namespace ingot::cpu {

// One thread's walk over chunks of a plan.
class TileRun {
 public:
  TileRun(const TilePlan& plan, std::byte* const* memory, std::byte* scratch)
      : plan_(plan), problem_(plan.problem_), memory_(memory), scratch_(scratch) {
    call_.sizes = problem_.sizes.data();
    call_.memory = at<std::byte*>(plan.scratch_.memory);
  }

  void chunk(int64_t index);

 private:
  using Block = TilePlan::Block;
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
  bool is_four() const { return plan_.reduces_depth() && is_integer(plan_.types_.a); }

  void outer(int64_t index, Range tiles, Range panels);
  void panels_with(const Block& block, Range tiles, Range panels);
  void start_rows(int64_t row);
  void fill_rows(int64_t height);
  void fill_padded_taps(int64_t row, int64_t height);
  void set_block(const Block& block, Range panels);
  void call(int64_t panel, int64_t height);
  void move_taps(int64_t bytes);
  void pack_tail();
  const std::byte* b_of(int64_t panel, const Block& block) const;
  const std::byte* base(const TilePlace& place) const;

  const TilePlan& plan_;
  const TileProblem& problem_;
  std::byte* const* memory_;
  std::byte* scratch_;
  kernel::TileCall call_;
  TileRows::Cursor cursor_;
  std::array<int64_t, kOuterDims> outer_ = {};
  const std::byte* b_ = nullptr;
  const Block* block_ = nullptr;
  bool has_tail_ = false;

  // What the calls fetch ahead: the b of the next panels or block, a piece each.
  const std::byte* next_ = nullptr;
  const std::byte* next_end_ = nullptr;
};

const std::byte* TileRun::base(const TilePlace& place) const {
  const std::byte* start = memory_[place.slot] + place.offset;
  for (size_t i = 0; i < kOuterDims; ++i) start += outer_[i] * place.outer[i];
  return start;
}

const std::byte* TileRun::b_of(int64_t panel, const Block& block) const {
  const int64_t k = block.first_tap * problem_.depth + block.first_k;
  if (problem_.b_stride != 0) return b_ + panel * plan_.k_bytes() + k * problem_.b_stride;
  return b_ + (panel * static_cast<int64_t>(plan_.taps_.size()) * problem_.depth + k) * plan_.k_bytes();
}

void TileRun::chunk(int64_t index) {
  const Range panels = share(plan_.panel_count_, plan_.panel_chunks_, index % plan_.panel_chunks_);
  index /= plan_.panel_chunks_;
  const Range tiles = share(plan_.tile_count_, plan_.row_chunks_, index % plan_.row_chunks_);
  const Range outers = share(plan_.outer_count_, plan_.outer_chunks_, index / plan_.row_chunks_);
  for (int64_t i = outers.begin; i < outers.end; ++i) outer(i, tiles, panels);
}

void TileRun::outer(int64_t index, Range tiles, Range panels) {
  for (size_t i = kOuterDims; i-- > 0;) {
    outer_[i] = index % problem_.outer[i];
    index /= problem_.outer[i];
  }
  b_ = plan_.reads_b() ? base(problem_.b) : nullptr;
  has_tail_ = problem_.b_stride != 0 && problem_.columns % plan_.choice_.columns() != 0;
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
  std::byte* to = at<std::byte>(plan_.scratch_.tail);
  for (int64_t k = 0; k < problem_.depth; ++k, to += width, from += problem_.b_stride) {
    std::memcpy(to, from, static_cast<size_t>(valid));
    std::memset(to + valid, 0, static_cast<size_t>(width - valid));
  }
}

void TileRun::set_block(const Block& block, Range panels) {
  block_ = &block;
  const bool is_last = &block == &plan_.blocks_.back();
  call_.first = &block == &plan_.blocks_.front();
  call_.last = is_last;
  call_.depth = block.depth;
  call_.tap_count = block.taps;
  call_.partial = at<float>(plan_.scratch_.partial);
  call_.taps = plan_.taps_.data() + block.first_tap;
  next_ = next_end_ = nullptr;
  if (!plan_.reduces_depth() || problem_.b_stride != 0) return;
  if (is_last && panels.end < plan_.panel_count_) {
    next_ = b_of(panels.end, plan_.blocks_.front());
    next_end_ = next_ + (b_of(panels.end, block) - b_of(panels.begin, block));
  } else if (!is_last) {
    next_ = b_of(panels.begin, (&block)[1]);
    next_end_ = next_ + (&block)[1].taps * (&block)[1].depth * plan_.k_bytes();
  }
}

void TileRun::panels_with(const Block& block, Range tiles, Range panels) {
  set_block(block, panels);
  if (block.first_k != 0) move_taps(block.first_k * bit_width(plan_.types_.a) / 8);
  start_rows(plan_.first_row(tiles.begin));
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const int64_t height = plan_.height(tile);
    fill_rows(height);
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) call(panel, height);
    call_.partial += height * plan_.choice_.columns();
  }
}

void TileRun::start_rows(int64_t row) {
  cursor_.places = at<std::byte*>(plan_.scratch_.walk);
  cursor_.places[0] = const_cast<std::byte*>(base(problem_.a));
  for (const RowAxis& axis : problem_.rows) cursor_.places[0] -= axis.before * axis.stride;
  for (size_t i = 0; i < problem_.accesses.size(); ++i)
    cursor_.places[i + 1] = const_cast<std::byte*>(base(problem_.accesses[i].place));
  plan_.rows_.seek(cursor_, row);
}

void TileRun::fill_rows(int64_t height) {
  auto* a_rows = at<const std::byte*>(plan_.scratch_.a_rows);
  auto* starts = at<std::byte*>(plan_.scratch_.row_starts);
  const auto accesses = static_cast<int64_t>(problem_.accesses.size());
  call_.a_step = 0;
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t i = 0; i < accesses; ++i) starts[i * height + row] = cursor_.places[i + 1];
    if (call_.a_step == 0) a_rows[row] = cursor_.places[0];
    if (plan_.rows_.has_padding() && (call_.a_step != 0 || !plan_.rows_.is_inside(cursor_)))
      fill_padded_taps(row, height);
    plan_.rows_.advance(cursor_);
  }
  call_.a_rows = a_rows + block_->first_tap * call_.a_step;
}

// Gives every tap rows of its own, those outside the input the row of padding. The kernel adds the tap's
// offset to both.
void TileRun::fill_padded_taps(int64_t row, int64_t height) {
  auto* a_rows = at<const std::byte*>(plan_.scratch_.a_rows);
  const auto taps = static_cast<int64_t>(plan_.taps_.size());
  if (call_.a_step == 0) {
    call_.a_step = height;
    for (int64_t tap = 1; tap < taps; ++tap) std::copy(a_rows, a_rows + row, a_rows + tap * height);
  }
  uint64_t inside = 0;
  for (int64_t tap = 0; tap < taps; ++tap, inside >>= 1) {
    if (tap % 64 == 0) inside = plan_.rows_.taps_inside(cursor_, static_cast<size_t>(tap / 64));
    a_rows[tap * height + row] =
        (inside & 1) != 0 ? cursor_.places[0] : plan_.padding_.data() - plan_.taps_[static_cast<size_t>(tap)];
  }
}

// Offsets within the rows of a go to the taps, of which there are fewer.
void TileRun::move_taps(int64_t bytes) {
  auto* taps = at<int64_t>(plan_.scratch_.taps);
  for (int64_t tap = 0; tap < block_->taps; ++tap)
    taps[tap] = plan_.taps_[static_cast<size_t>(block_->first_tap + tap)] + bytes;
  call_.taps = taps;
}

void TileRun::call(int64_t panel, int64_t height) {
  const int64_t column = panel * plan_.choice_.columns();
  const auto* starts = at<std::byte*>(plan_.scratch_.row_starts);
  auto* memory = at<std::byte*>(plan_.scratch_.memory);
  for (const TileAccess& access : problem_.accesses) {
    const int64_t offset = column * access.column;
    for (int64_t row = 0; row < height; ++row) *memory++ = *starts++ + offset;
  }
  call_.columns = std::min(plan_.choice_.columns(), problem_.columns - column);
  const bool tail = has_tail_ && panel == plan_.panel_count_ - 1;
  if (plan_.reads_b())
    call_.b = tail ? at<std::byte>(plan_.scratch_.tail) + block_->first_k * plan_.k_bytes()
                   : b_of(panel, *block_);
  const bool plain = problem_.b_stride != 0 && !tail;
  call_.b_stride = plain ? problem_.b_stride : plan_.k_bytes() * (is_four() ? 4 : 1);
  if (!plan_.reduces_depth()) move_taps(column * bit_width(plan_.types_.a) / 8);
  call_.next_b = next_ < next_end_ ? next_ : call_.b;
  if (next_ != nullptr)
    next_ += block_->taps * block_->depth / (is_four() ? 4 : 1) * kernel::kNextBytesPerStep;
  plan_.functions_[static_cast<size_t>(height)](&call_);
}

void TilePlan::run(std::byte* const* memory, int64_t begin, int64_t end, std::byte* scratch) const {
  TileRun run(*this, memory, scratch);
  for (int64_t index = begin; index < end; ++index) run.chunk(index);
}

}  // namespace ingot::cpu
