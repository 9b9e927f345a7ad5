#include "device/cpu/tile_rows.h"

#include <numeric>

#include "device/cpu/routines/simd.h"

namespace ingot::cpu {
namespace {

bool reads_input(const RowAxis& axis, int64_t output, int64_t tap) {
  const int64_t position = output * axis.step + tap * axis.dilation - axis.before;
  return position >= 0 && position < axis.input;
}

bool reads_only_input(const RowAxis& axis, int64_t output) {
  return reads_input(axis, output, 0) && reads_input(axis, output, axis.taps - 1);
}

// Short tiles take little longer than it takes to list their rows.
INGOT_SIMD void list_equal_steps(std::byte* start, int64_t step, int64_t count, std::byte** out) {
  for (int64_t i = 0; i < count; ++i) out[i] = start + i * step;
}

INGOT_SIMD void list_offsets(std::byte* start, const int64_t* offsets, int64_t count, std::byte** out) {
  for (int64_t i = 0; i < count; ++i) out[i] = start + offsets[i];
}

}  // namespace

TileRows::TileRows(const TileProblem& problem)
    : places_(problem.accesses.size() + 1), words_((static_cast<size_t>(problem.tap_count()) + 63) / 64) {
  for (size_t i = 0; i < kRowDims; ++i) {
    const RowAxis& axis = problem.rows[i];
    axes_[i].extent = axis.extent;
    find_inside(axis, axes_[i]);
    add_masks(problem, i);
    steps_[i].push_back(axis.step * axis.stride);
    for (const TileAccess& access : problem.accesses) steps_[i].push_back(access.rows[i]);
  }
  for (size_t i = 0; i < kRowDims; ++i) {
    deltas_[i] = steps_[i];
    for (size_t inner = i + 1; inner < kRowDims; ++inner)
      for (size_t p = 0; p < places_; ++p) deltas_[i][p] -= steps_[inner][p] * (axes_[inner].extent - 1);
  }
  for (size_t p = 0; p < places_; ++p) {
    const bool moves = std::ranges::any_of(steps_, [&](const std::vector<int64_t>& s) { return s[p] != 0; });
    (moves || p == 0 ? moving_ : fixed_).push_back(p);
  }
  constexpr int64_t kMostOrdered = 16384;
  if (has_padding() && words_ == 1 && problem.row_count() <= kMostOrdered) order_rows(problem);
}

void TileRows::order_rows(const TileProblem& problem) {
  const auto count = static_cast<size_t>(problem.row_count());
  std::vector<Position> positions(count);
  std::vector<uint64_t> masks(count, ~uint64_t{0});
  for (size_t row = 0; row < count; ++row) {
    auto rest = static_cast<int64_t>(row);
    for (size_t i = kRowDims; i-- > 0; rest /= axes_[i].extent) {
      positions[row][i] = rest % axes_[i].extent;
      masks[row] &= mask_of(i, positions[row][i], 0);
    }
  }
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return masks[a] > masks[b]; });
  for (const size_t row : order) row_masks_.push_back(masks[row]);
  for (size_t p = 0; p < places_; ++p)
    for (const size_t row : order) {
      int64_t offset = 0;
      for (size_t i = 0; i < kRowDims; ++i) offset += positions[row][i] * steps_[i][p];
      offsets_.push_back(offset);
    }
}

void TileRows::find_inside(const RowAxis& axis, Axis& out) const {
  out.low = 0;
  while (out.low < axis.extent && !reads_only_input(axis, out.low)) ++out.low;
  out.high = out.low;
  while (out.high < axis.extent && reads_only_input(axis, out.high)) ++out.high;
}

// Masks hold the taps of all axes, so that those of a row are the intersection of those of its positions.
void TileRows::add_masks(const TileProblem& problem, size_t axis) {
  Axis& out = axes_[axis];
  if (out.low == 0 && out.high == out.extent) return;
  inside_everywhere_ = false;
  int64_t inner_taps = 1;
  for (size_t i = axis + 1; i < kRowDims; ++i) inner_taps *= problem.rows[i].taps;
  for (int64_t output = 0; output < out.extent; ++output) {
    if (output == out.low) output = out.high;
    if (output == out.extent) break;
    std::vector<uint64_t> mask(words_);
    for (int64_t tap = 0; tap < problem.tap_count(); ++tap)
      if (reads_input(problem.rows[axis], output, tap / inner_taps % problem.rows[axis].taps))
        mask[static_cast<size_t>(tap / 64)] |= uint64_t{1} << (tap % 64);
    out.masks.insert(out.masks.end(), mask.begin(), mask.end());
  }
}

void TileRows::seek(Cursor& cursor, int64_t row) const {
  if (is_ordered()) {
    cursor.at[kRowDims - 1] = row;
    return;
  }
  for (size_t i = kRowDims; i-- > 0;) {
    const int64_t position = axes_[i].extent == 1 ? 0 : row % axes_[i].extent;
    if (axes_[i].extent != 1) row /= axes_[i].extent;
    cursor.at[i] = position;
    if (position != 0)
      for (size_t p = 0; p < places_; ++p) cursor.places[p] += position * steps_[i][p];
  }
}

// Moves by a run along the innermost axis; the axis that went on by one, the innermost where none was at its
// end.
size_t TileRows::move(Position& at, int64_t run) const {
  size_t i = kRowDims - 1;
  at[i] += run;
  if (at[i] < axes_[i].extent) return i;
  --at[i];
  while (i > 0 && at[i] + 1 == axes_[i].extent) at[i--] = 0;
  ++at[i];
  return i;
}

void TileRows::list(Cursor& cursor, int64_t rows, const std::byte** a_rows, std::byte** accesses,
                    int64_t step) const {
  const auto& steps = steps_[kRowDims - 1];
  const auto out = [&](size_t place) {
    return place == 0 ? const_cast<std::byte**>(a_rows) : accesses + static_cast<int64_t>(place - 1) * step;
  };
  if (is_ordered()) {
    const auto all = static_cast<int64_t>(row_masks_.size());
    for (const size_t p : moving_)
      list_offsets(cursor.places[p],
                   offsets_.data() + static_cast<int64_t>(p) * all + cursor.at[kRowDims - 1], rows, out(p));
    cursor.at[kRowDims - 1] += rows;
    return;
  }
  for (int64_t row = 0; row < rows;) {
    const int64_t run = run_length(cursor.at, rows - row);
    for (const size_t p : moving_) list_equal_steps(cursor.places[p], steps[p], run, out(p) + row);
    const bool wraps = cursor.at[kRowDims - 1] + run == axes_[kRowDims - 1].extent;
    const size_t axis = move(cursor.at, run);
    for (const size_t p : moving_) {
      cursor.places[p] += (wraps ? run - 1 : run) * steps[p];
      if (wraps) cursor.places[p] += deltas_[axis][p];
    }
    row += run;
  }
}

void TileRows::list_fixed(const Cursor& cursor, std::byte** accesses, int64_t step) const {
  for (const size_t p : fixed_) accesses[static_cast<int64_t>(p - 1) * step] = cursor.places[p];
}

bool TileRows::is_inside(const Position& at, int64_t run) const {
  for (size_t i = 0; i < kRowDims; ++i) {
    const int64_t last = i + 1 == kRowDims ? run - 1 : 0;
    if (at[i] < axes_[i].low || at[i] + last >= axes_[i].high) return false;
  }
  return true;
}

uint64_t TileRows::mask_of(size_t axis, int64_t at, size_t word) const {
  const Axis& a = axes_[axis];
  if (at >= a.low && at < a.high) return ~uint64_t{0};
  const int64_t index = at < a.low ? at : at - (a.high - a.low);
  return a.masks[static_cast<size_t>(index) * words_ + word];
}

bool TileRows::mark(Position& at, int64_t rows, uint64_t* masks, int64_t step) const {
  constexpr size_t kInner = kRowDims - 1;
  bool pads = false;
  if (is_ordered()) {
    const uint64_t* from = row_masks_.data() + at[kInner];
    for (int64_t row = 0; row < rows; ++row) {
      masks[row] = from[row];
      pads = pads || from[row] != ~uint64_t{0};
    }
    at[kInner] += rows;
    return pads;
  }
  if (run_length(at, rows) == rows && is_inside(at, rows)) {  // most tiles; nobody looks at their masks
    move(at, rows);
    return false;
  }
  for (int64_t row = 0; row < rows;) {
    const int64_t run = run_length(at, rows - row);
    pads = pads || !is_inside(at, run);
    for (size_t word = 0; word < words_; ++word) {
      uint64_t outer = ~uint64_t{0};
      for (size_t i = 0; i < kInner; ++i) outer &= mask_of(i, at[i], word);
      uint64_t* out = masks + static_cast<int64_t>(word) * step + row;
      for (int64_t i = 0; i < run; ++i) out[i] = outer & mask_of(kInner, at[kInner] + i, word);
    }
    move(at, run);
    row += run;
  }
  return pads;
}

}  // namespace ingot::cpu
