#include "device/cpu/tile_rows.h"

namespace ingot::cpu {
namespace {

bool reads_input(const RowAxis& axis, int64_t output, int64_t tap) {
  const int64_t position = output * axis.step + tap * axis.dilation - axis.before;
  return position >= 0 && position < axis.input;
}

bool reads_only_input(const RowAxis& axis, int64_t output) {
  return reads_input(axis, output, 0) && reads_input(axis, output, axis.taps - 1);
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
  for (size_t i = kRowDims; i-- > 0;) {
    const int64_t position = axes_[i].extent == 1 ? 0 : row % axes_[i].extent;
    if (axes_[i].extent != 1) row /= axes_[i].extent;
    cursor.at[i] = position;
    if (position != 0)
      for (size_t p = 0; p < places_; ++p) cursor.places[p] += position * steps_[i][p];
  }
}

void TileRows::advance(Cursor& cursor) const {
  size_t i = kRowDims - 1;
  while (i > 0 && cursor.at[i] + 1 == axes_[i].extent) cursor.at[i--] = 0;
  ++cursor.at[i];
  const int64_t* delta = deltas_[i].data();
  for (size_t p = 0; p < places_; ++p) cursor.places[p] += delta[p];
}

bool TileRows::is_inside(const Cursor& cursor) const {
  for (size_t i = 0; i < kRowDims; ++i)
    if (cursor.at[i] < axes_[i].low || cursor.at[i] >= axes_[i].high) return false;
  return true;
}

uint64_t TileRows::taps_inside(const Cursor& cursor, size_t word) const {
  uint64_t mask = ~uint64_t{0};
  for (size_t i = 0; i < kRowDims; ++i) {
    const Axis& axis = axes_[i];
    const int64_t at = cursor.at[i];
    if (at >= axis.low && at < axis.high) continue;
    const int64_t index = at < axis.low ? at : at - (axis.high - axis.low);
    mask &= axis.masks[static_cast<size_t>(index) * words_ + word];
  }
  return mask;
}

}  // namespace ingot::cpu
