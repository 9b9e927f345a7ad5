#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "device/cpu/tile_choice.h"
#include "device/cpu/tile_problem.h"
#include "device/cpu/tile_rows.h"

namespace ingot::cpu {

// Compiled tiles by the height that they serve; null where tile_heights does not ask for one. All compute the
// same TileTypes and choice. A higher tile may stand in for a lower one: what it computes beyond is dropped.
struct TileFunctions {
  struct Tile {
    kernel::TileFunction function = nullptr;
    int rows = 0;  // that it computes, at least the height
  };
  std::array<Tile, kMaxTileRows + 1> tiles = {};

  const Tile& of(int64_t height) const { return tiles.at(static_cast<size_t>(height)); }
  void set(int height, kernel::TileFunction function, int rows) {
    tiles.at(static_cast<size_t>(height)) = {function, rows};
  }
};

// A problem cut into chunks: made once per set of sizes, run any number of times by any number of threads.
// The cut depends on the problem alone, so results do not depend on who runs which chunk.
class TileDriver {
 public:
  virtual ~TileDriver() = default;
  virtual int64_t chunks() const = 0;
  virtual int64_t scratch_bytes() const = 0;  // that run needs per thread, 64-byte aligned

  // Computes the chunks [begin, end). `memory` holds the base pointers that TilePlace::slot names. Allocates
  // nothing.
  virtual void run(std::byte* const* memory, int64_t begin, int64_t end, std::byte* scratch) const = 0;
};

// The driver that the choice of a problem asks for, for functions of these heights.
std::unique_ptr<TileDriver> make_tile_driver(TileProblem problem, const TileTypes& types,
                                             const TileChoice& choice, const TileFunctions& functions);
// The heights of its tiles.
std::vector<int> tile_heights(const TileProblem& problem, const TileChoice& choice);

// Tiles that find every row by itself.
class TilePlan : public TileDriver {
 public:
  // Throws Error(internal) where a height has no function or the problem does not fit the types.
  TilePlan(TileProblem problem, const TileTypes& types, const TileChoice& choice,
           const TileFunctions& functions);

  int64_t chunks() const override { return outer_chunks_ * row_chunks_ * panel_chunks_; }
  int64_t scratch_bytes() const override { return scratch_.bytes; }
  void run(std::byte* const* memory, int64_t begin, int64_t end, std::byte* scratch) const override;

 private:
  friend class TileRun;

  // Products of one call: whole taps, or a part of the depth of one.
  struct Block {
    int64_t first_tap = 0;
    int64_t tap_count = 1;
    int64_t first_k = 0;
    int64_t depth = 1;
    std::vector<kernel::TileTap> taps;
  };
  // Neighbouring tiles that one call computes.
  struct Run {
    int64_t tiles;
    TileFunctions::Tile tile;
    int64_t first_row;  // in the tables of rows
    bool padded;
    int64_t tap_count;
    const kernel::TileTap* taps;
  };
  struct Scratch {  // offsets
    int64_t a_rows = 0;
    int64_t memory = 0;
    int64_t inside = 0;
    int64_t taps = 0;
    int64_t runs = 0;
    int64_t walk = 0;
    int64_t tail = 0;  // the last, ragged panel of plain b
    int64_t partial = 0;
    int64_t spare = -1;  // a row for what stand-ins compute beyond; none: it goes where the last row goes
    int64_t bytes = 0;
  };

  void check() const;
  void find_stand_ins();
  bool reads_its_stores() const;
  void cut_depth();
  void add_block(Block block);
  void cut_together();
  void cut_chunks();
  void lay_out_scratch();
  int64_t height(int64_t tile) const { return tile_rows_ + (tile < high_tiles_ ? 1 : 0); }
  int64_t first_row(int64_t tile) const { return tile * tile_rows_ + std::min(tile, high_tiles_); }
  bool reduces_depth() const { return types_.kind == kernel::TileKind::dot; }
  bool reads_b() const { return reduces_depth() || types_.kind == kernel::TileKind::depthwise; }
  int64_t k_bytes() const;  // of b per k (dot) or tap (depthwise)
  int64_t k_per_step() const { return reduces_depth() && is_integer(types_.a) ? 4 : 1; }
  const TileFunctions::Tile& tile_of(int64_t tile) const { return functions_.of(height(tile)); }
  bool stands_in(int64_t tile) const { return tile_of(tile).rows != height(tile); }
  int64_t rows_together() const { return tiles_together_ * choice_.rows; }

  TileProblem problem_;
  TileTypes types_;
  TileChoice choice_;
  TileFunctions functions_ = {};
  TileRows rows_;
  std::vector<int64_t> taps_;       // bytes from a row of a, one per tap
  std::vector<std::byte> padding_;  // one row of TileProblem::padding, read by taps outside the input
  bool padding_adds_nothing_ = true;
  std::vector<Block> blocks_;
  Scratch scratch_;

  int64_t outer_count_ = 1;
  int64_t tile_rows_ = 0;   // of a low tile
  int64_t high_tiles_ = 0;  // the first ones have a row more
  int64_t tile_count_ = 0;
  bool stands_in_ = false;  // some tiles do
  int64_t panel_count_ = 0;
  int64_t panels_together_ = 1;  // that the rows meet in turn: they stay in the second-level cache
  int64_t tiles_together_ = 1;   // that meet a panel in turn: their rows stay in the first-level cache

  int64_t outer_chunks_ = 1;
  int64_t row_chunks_ = 1;
  int64_t panel_chunks_ = 1;
};

}  // namespace ingot::cpu
