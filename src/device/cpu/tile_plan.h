#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "device/cpu/tile_choice.h"
#include "device/cpu/tile_problem.h"

namespace ingot::cpu {

inline constexpr int kMaxTileRows = 28;

// Compiled tiles by height; null where tile_heights does not ask for one. All compute the same TileTypes and
// choice.
using TileFunctions = std::array<kernel::TileFunction, kMaxTileRows + 1>;

// A problem cut into chunks: made once per set of sizes, run any number of times by any number of threads.
// The cut depends on the problem alone, so results do not depend on who runs which chunk.
class TilePlan {
 public:
  TilePlan(TileProblem problem, const TileTypes& types, const TileChoice& choice,
           const TileFunctions& functions);

  int64_t chunks() const { return outer_count_ * row_chunks_ * panel_chunks_; }
  int64_t scratch_bytes() const { return scratch_bytes_; }  // that run needs per thread, 64-byte aligned

  // Computes the chunks [begin, end). `memory` holds the base pointers that TilePlace::slot names. Allocates
  // nothing.
  void run(std::byte* const* memory, int64_t begin, int64_t end, std::byte* scratch) const;

 private:
  friend class TileRun;

  void cut();

  TileProblem problem_;
  TileTypes types_;
  TileChoice choice_;
  TileFunctions functions_ = {};
  std::vector<int64_t> taps_;       // byte offsets from a row, one per tap
  std::vector<std::byte> padding_;  // one row of TileProblem::padding, read by taps outside the input

  int64_t outer_count_ = 1;
  int64_t tile_count_ = 0;  // of one column of tiles
  int64_t panel_count_ = 0;
  int64_t row_chunks_ = 1;
  int64_t panel_chunks_ = 1;
  int64_t depth_block_ = 0;   // of one call, in k over all taps
  int64_t panels_block_ = 1;  // panels that stay in the second-level cache together
  int64_t scratch_bytes_ = 0;
};

}  // namespace ingot::cpu
