#pragma once

#include <cstdint>
#include <vector>

#include "kernel/loop_nest.h"
#include "kernel/target.h"

namespace ingot::cpu {

// What the tiles of a problem compute; together with TileChoice, heights and epilogue it makes the kernels.
struct TileTypes {
  kernel::TileKind kind = kernel::TileKind::dot;
  DType a = DType::f32;  // f32, or u8 or byte_type() where b is i8
  DType b = DType::f32;  // f32, f16, bf16, i8; as packed. Unused by max and sum
  bool packed = true;    // b is; otherwise rows of f32, f16 or bf16 as they are (dot with one tap)

  friend bool operator==(const TileTypes&, const TileTypes&) = default;
};

// The shape of the tiles of a problem, which also decides how b is packed.
struct TileChoice {
  int rows = 1;                    // of the highest tile
  int vectors = 1;                 // columns of every tile, in vectors
  int lanes = 8;                   // of one vector
  kernel::TileWindow window = {};  // rows are neighbours along the innermost axis of the rows

  int64_t columns() const { return static_cast<int64_t>(vectors) * lanes; }  // of one panel of b
  friend bool operator==(const TileChoice&, const TileChoice&) = default;
};

inline constexpr int kMaxTileRows = 16;
inline constexpr int64_t kUnknownRows = -1;  // dynamic sizes

// What activations of i8 are multiplied as: themselves where the processor multiplies them with i8, else u8.
DType byte_type(const kernel::Target& target, DType dtype);

// `rows` matter little: packed b made for one number of rows serves any other.
TileChoice choose_tile(const kernel::Target& target, const TileTypes& types, int64_t rows, int64_t columns);

// Tiles whose rows share such a window, for so many rows along its axis; without a window where that does not
// suit the types or the window.
TileChoice choose_window_tile(const kernel::Target& target, const TileTypes& types,
                              const kernel::TileWindow& window, int64_t rows, int64_t columns);

// The heights of tiles that plan_tiles uses for so many rows: two neighbours, or all up to choice.rows where
// unknown.
std::vector<int> tile_heights(int64_t rows, const TileChoice& choice);

// One kernel per height, in the order of `heights`.
std::vector<kernel::TileKernel> tile_kernels(const TileTypes& types, const TileChoice& choice,
                                             const kernel::LoopNest& epilogue,
                                             const std::vector<int>& heights);

}  // namespace ingot::cpu
