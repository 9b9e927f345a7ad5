#include "device/cpu/tile_choice.h"

#include <algorithm>

namespace ingot::cpu {
namespace {

using kernel::TileKind;

constexpr int kMostRows = 14;  // in vectors, of dots and sliding windows

// Registers besides the sums: what a step holds of b, of a, and in between.
int other_registers(const kernel::Target& target, const TileTypes& types, int vectors) {
  const bool in_pairs =
      is_integer(types.a) && types.kind == TileKind::dot && target.level < kernel::IsaLevel::avx512_vnni;
  if (in_pairs) return 2 * vectors + 4;
  if (types.kind == TileKind::max) return 4;
  return vectors + 1;
}

// In the tile registers of AMX.
bool in_tile_registers(const kernel::Target& target, const TileTypes& types) {
  return target.level >= kernel::IsaLevel::amx && is_integer(types.a) && types.kind == TileKind::dot;
}

int most_rows(const kernel::Target& target, const TileTypes& types, int vectors) {
  if (in_tile_registers(target, types)) return 16;
  const int sums = target.registers() - other_registers(target, types, vectors);
  constexpr int kMostWindowRows = 8;  // their pointers stay in registers
  return std::min(sums / vectors, types.kind == TileKind::dot ? kMostRows : kMostWindowRows);
}

// Time per useful vector of columns relative to the best: measured on long products; of AMX from the latency
// of a product (52 cycles) and the rate at which independent ones start (one in 16).
double overhead(int vectors, bool in_tile_registers) {
  constexpr double kOfRegisters[] = {0, 3.25, 1.63, 1.08, 1.0};
  if (in_tile_registers) return kOfRegisters[vectors];
  constexpr double kOverhead[] = {0, 1.25, 1.06, 1.02, 1.0, 1.03, 1.05};
  return kOverhead[vectors];
}

int most_window_rows(const kernel::Target& target, int taps, int vectors) {
  constexpr int kMostOutputs = 18;  // their code is unrolled
  const int most = (target.registers() - 1 - vectors) / vectors - taps;
  return std::min({most, kMostOutputs / vectors, kMostRows});
}

}  // namespace

TileChoice choose_window_tile(const kernel::Target& target, const TileTypes& types,
                              const kernel::TileWindow& window, int64_t rows, int64_t columns) {
  constexpr int kMostTaps = 7, kMostReach = 64;
  constexpr double kFixed = 2;  // multiplications of one tap that the start and end of a tile are worth
  TileChoice best{.rows = 1, .vectors = 1, .lanes = target.lanes()};
  if (types.kind == TileKind::dot || types.a != DType::f32 || window.taps > kMostTaps) return best;
  const int64_t needed = std::max<int64_t>(1, (columns + best.lanes - 1) / best.lanes);
  double best_cost = 0;
  for (int vectors = 1; vectors <= 4; ++vectors) {
    const int most = most_window_rows(target, window.taps, vectors);
    if (most < 2 || most * window.step + window.taps * window.dilation > kMostReach) continue;
    const double height = static_cast<double>(rows) / static_cast<double>((rows + most - 1) / most);
    const int64_t computed = (needed + vectors - 1) / vectors * vectors;
    const double cost = static_cast<double>(computed) * (1 + kFixed / (height * vectors));
    if (best_cost != 0 && cost >= best_cost) continue;
    best_cost = cost;
    best = {.rows = most, .vectors = vectors, .lanes = target.lanes(), .window = window};
  }
  return best;
}

DType byte_type(const kernel::Target& target, DType dtype) {
  return target.level >= kernel::IsaLevel::amx ? dtype : DType::u8;
}

TileChoice choose_tile(const kernel::Target& target, const TileTypes& types, int64_t, int64_t columns) {
  const int lanes = target.lanes();
  const int64_t needed = std::max<int64_t>(1, (columns + lanes - 1) / lanes);
  const bool in_registers = in_tile_registers(target, types);
  const int widest = in_registers ? 4 : lanes == 16 ? 6 : 3;
  TileChoice best{.rows = 1, .vectors = 1, .lanes = lanes};
  double best_cost = 0;
  for (int vectors = 1; vectors <= widest; ++vectors) {
    const int rows = most_rows(target, types, vectors);
    if (rows < 2) continue;
    const int64_t computed = (needed + vectors - 1) / vectors * vectors;
    const double cost = static_cast<double>(computed) * overhead(vectors, in_registers);
    if (best_cost == 0 || cost < best_cost) {
      best_cost = cost;
      best.rows = rows;
      best.vectors = vectors;
    }
  }
  return best;
}

std::vector<int> tile_heights(int64_t rows, const TileChoice& choice) {
  std::vector<int> heights;
  if (rows == kUnknownRows) {
    for (int height = 1; height <= choice.rows; ++height) heights.push_back(height);
    return heights;
  }
  if (rows <= 0) return heights;
  const int64_t tiles = (rows + choice.rows - 1) / choice.rows;
  heights.push_back(static_cast<int>(rows / tiles));
  if (rows % tiles != 0) heights.push_back(heights.front() + 1);
  return heights;
}

std::vector<kernel::TileKernel> tile_kernels(const TileTypes& types, const TileChoice& choice,
                                             const kernel::LoopNest& epilogue,
                                             const std::vector<int>& heights) {
  std::vector<kernel::TileKernel> kernels;
  for (const int height : heights)
    kernels.push_back({.kind = types.kind,
                       .a = types.a,
                       .b = types.b,
                       .rows = height,
                       .vectors = choice.vectors,
                       .packed = types.packed,
                       .epilogue = epilogue,
                       .window = choice.window});
  return kernels;
}

}  // namespace ingot::cpu
