#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/cpu/tile_problem.h"

namespace ingot::cpu {

// The rows of a problem: how far `a` and each access move from row to row, and which taps of a row
// lie outside the input.
class TileRows {
 public:
  TileRows() = default;
  explicit TileRows(const TileProblem& problem);

  // Where a walk over the rows is. `places` has room for places() pointers: a, then the accesses.
  using Position = std::array<int64_t, kRowDims>;
  struct Cursor {
    Position at = {};
    std::byte** places = nullptr;
  };

  size_t places() const { return places_; }
  // Moves a cursor whose places are those of row 0 to another row.
  void seek(Cursor& cursor, int64_t row) const;
  // Writes the places of rows from the cursor on, `step` pointers from one place's rows to the next one's,
  // and moves the cursor behind them. Of accesses that are the same in all rows, nothing: see list_fixed.
  void list(Cursor& cursor, int64_t rows, const std::byte** a_rows, std::byte** accesses, int64_t step) const;

  // Writes the places of the others at one row.
  void list_fixed(const Cursor& cursor, std::byte** accesses, int64_t step) const;

  bool has_padding() const { return !inside_everywhere_; }
  // Writes the masks of rows from `at` on: bits of the taps that read the input, `step` words from 64 taps to
  // the next 64; and moves it behind them. Whether a tap of them reads padding; the masks mean nothing
  // otherwise.
  bool mark(Position& at, int64_t rows, uint64_t* masks, int64_t step) const;
  size_t words() const { return words_; }

 private:
  // Output positions [low, high) along an axis see only input; the masks of the others lie one after another.
  struct Axis {
    int64_t extent = 1;
    int64_t low = 0;
    int64_t high = 1;
    std::vector<uint64_t> masks;  // `words_` per position
  };

  int64_t run_length(const Position& at, int64_t most) const {  // along the innermost axis
    return std::min(most, axes_[kRowDims - 1].extent - at[kRowDims - 1]);
  }
  size_t move(Position& at, int64_t run) const;
  bool is_inside(const Position& at, int64_t run) const;
  uint64_t mask_of(size_t axis, int64_t at, size_t word) const;
  void find_inside(const RowAxis& axis, Axis& out) const;
  void add_masks(const TileProblem& problem, size_t axis);

  void order_rows(const TileProblem& problem);
  bool is_ordered() const {
    return !offsets_.empty();
  }  // a cursor's last position is then the row's place in order

  size_t places_ = 1;
  std::vector<size_t> moving_, fixed_;  // the places that vary along rows, and those that do not
  size_t words_ = 1;
  bool inside_everywhere_ = true;
  std::array<Axis, kRowDims> axes_;
  std::array<std::vector<int64_t>, kRowDims> steps_;   // bytes per place when only this axis moves
  std::vector<int64_t> offsets_;                       // [place][row], in order
  std::vector<uint64_t> row_masks_;                    // of the taps inside, in order
  std::array<std::vector<int64_t>, kRowDims> deltas_;  // when it moves and those inside it start again
};

}  // namespace ingot::cpu
