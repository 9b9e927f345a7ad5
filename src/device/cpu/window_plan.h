#pragma once

#include "device/cpu/tile_plan.h"

namespace ingot::cpu {

// Tiles whose rows share a window along the innermost axis (TileChoice::window): depthwise convolutions and
// pooling of f32. A line is what the outer axes of the rows leave: all output positions along the innermost
// one. Rows of taps that lie outside the input are left out line by line; what the window reads beside it is
// chosen in the kernel.
class WindowPlan : public TileDriver {
 public:
  // Throws Error(internal) where a height has no function or the problem does not fit the choice.
  WindowPlan(TileProblem problem, const TileTypes& types, const TileChoice& choice,
             const TileFunctions& functions);

  int64_t chunks() const override { return line_chunks_ * panel_chunks_; }
  int64_t scratch_bytes() const override;
  void run(std::byte* const* memory, int64_t begin, int64_t end, std::byte* scratch) const override;

 private:
  friend class WindowRun;

  // Taps that a line reads, one for each row of taps: a part of `taps_`.
  struct TapRange {
    int64_t first = 0;
    int64_t count = 0;
  };

  void check() const;
  void cut_lines();
  void list_taps();
  void cut_chunks();
  int64_t lines() const { return axis(0).extent * axis(1).extent * axis(2).extent; }
  const RowAxis& axis(size_t i) const { return problem_.rows[i]; }
  const RowAxis& inner() const { return problem_.rows[kRowDims - 1]; }
  int64_t tap_bytes() const;  // of b: one tap of a panel
  int64_t tiles_per_line() const { return low_tiles_ + high_tiles_; }

  TileProblem problem_;
  TileTypes types_;
  TileChoice choice_;
  TileFunctions functions_ = {};
  std::vector<float> padding_;  // what positions outside the input hold: one vector for each of a panel
  std::vector<kernel::TileTap> taps_;  // one list after another
  std::vector<TapRange> ranges_;       // by line of one image
  std::vector<int64_t> row_steps_;     // by access: bytes from one row to the next

  // A line is cut into tiles of two heights, the higher ones first: neighbours, unless kernels for them are
  // missing.
  int64_t high_height_ = 1;
  int64_t low_height_ = 1;
  int64_t low_tiles_ = 0;
  int64_t high_tiles_ = 0;
  int64_t wanted_tiles_ = 1;  // per line, were no kernels missing
  int64_t most_tiles_ = 1;    // at once, that there is room for
  int64_t panel_count_ = 0;
  int64_t lines_together_ = 1;  // that each panel meets in turn: what they read stays in a cache
  int64_t line_chunks_ = 0;
  int64_t panel_chunks_ = 1;
};

}  // namespace ingot::cpu
