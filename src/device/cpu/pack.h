#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "device/cpu/tile_choice.h"

// The packed form of b, which tiles read from front to back: panels of TileChoice::columns() columns,
//   dot              [panel][tap][k][column]
//   dot, u8 x i8     [panel][tap][k / 4][column][4], k padded with zeros to a multiple of 4
//   depthwise        [panel][tap][column]
// Columns beyond the last are zero. One piece per group or batch; pieces lie wherever TileProblem::b says.
namespace ingot::cpu {

// b as it lies in memory: element (tap, k, column) of `dtype`, each index split into axes of their own.
// Strides are in elements and may be negative or zero.
struct PackSource {
  struct Axis {
    int64_t extent = 1;
    int64_t stride = 0;
  };

  DType dtype = DType::f32;
  const std::byte* data = nullptr;
  std::array<Axis, 3> taps;  // kd, kh, kw
  std::array<Axis, 2>
      depth;  // channels; or kw, channels where the window's last axis is folded into the depth
  Axis columns;
};

struct PackLayout {
  DType dtype = DType::f32;  // of the packed elements
  int64_t taps = 1;
  int64_t depth = 1;  // padded
  int64_t columns = 1;
  int64_t panel_columns = 1;

  int64_t panels() const { return (columns + panel_columns - 1) / panel_columns; }
  int64_t panel_bytes() const;
  int64_t bytes() const { return panels() * panel_bytes(); }
};

// Of weights of this form, for tiles of these types and this shape.
PackLayout pack_layout(const TileTypes& types, const TileChoice& choice, const PackSource& source);

// Packs panels [begin, end) into `out`, the start of the whole piece. Converts f64, f32, f16, bf16 to a
// floating packed type; i8 to i8; u8 to i8 by subtracting 128. Disjoint ranges may be packed by several
// threads at once.
void pack_panels(const PackSource& source, const PackLayout& layout, int64_t begin, int64_t end,
                 std::byte* out);

}  // namespace ingot::cpu
