#include "device/cpu/tile_plan.h"

#include <algorithm>
#include <span>
#include <string>

#include "ingot/error.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kBlockBytes = 384 << 10;  // of b, in the second-level cache

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

[[noreturn]] void refuse(const char* expected, std::string observed) {
  throw Error({.code = ErrorCode::internal,
               .object = "tile problem",
               .expected = expected,
               .observed = std::move(observed)});
}

std::vector<int64_t> tap_offsets(const TileProblem& problem) {
  std::vector<int64_t> offsets;
  for (int64_t tap = 0; tap < problem.tap_count(); ++tap) {
    int64_t rest = tap;
    int64_t offset = 0;
    for (size_t i = kRowDims; i-- > 0;) {
      const RowAxis& axis = problem.rows[i];
      offset += rest % axis.taps * axis.dilation * axis.stride;
      rest /= axis.taps;
    }
    offsets.push_back(offset);
  }
  return offsets;
}

template <class T>
std::vector<std::byte> repeated(double value, int64_t count) {
  const std::vector<T> values(static_cast<size_t>(count), static_cast<T>(value));
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> padding_row(DType dtype, double value, int64_t count) {
  switch (dtype) {
    case DType::f32: return repeated<float>(value, count);
    case DType::u8: return repeated<uint8_t>(value, count);
    case DType::i8: return repeated<int8_t>(value, count);
    default: break;
  }
  refuse("padding of f32, u8 or i8", std::string(to_string(dtype)));
}

}  // namespace

TilePlan::TilePlan(TileProblem problem, const TileTypes& types, const TileChoice& choice,
                   const TileFunctions& functions)
    : problem_(std::move(problem)),
      types_(types),
      choice_(choice),
      functions_(functions),
      rows_(problem_),
      taps_(tap_offsets(problem_)) {
  const int64_t rows = problem_.row_count();
  for (const int64_t extent : problem_.outer) outer_count_ *= extent;
  panel_count_ = divide_up(problem_.columns, choice_.columns());
  if (rows > 0) {
    tile_count_ = divide_up(rows, choice_.rows);
    tile_rows_ = rows / tile_count_;
    high_tiles_ = rows % tile_count_;
  }
  check();
  find_stand_ins();
  padding_adds_nothing_ = types_.kind == kernel::TileKind::max || problem_.padding == 0;
  if (rows_.has_padding())
    padding_ = padding_row(types_.a, problem_.padding, std::max(problem_.depth, problem_.columns) + 4);
  cut_depth();
  cut_together();
  cut_chunks();
  lay_out_scratch();
}

void TilePlan::check() const {
  if (outer_count_ <= 0 || tile_count_ <= 0 || panel_count_ <= 0) return;
  for (const int height : tile_heights(problem_.row_count(), choice_))
    if (functions_.of(height).function == nullptr)
      refuse("a kernel for every height of tiles", "none for " + std::to_string(height));
  if (!types_.packed && (!reduces_depth() || is_integer(types_.a) || problem_.tap_count() != 1))
    refuse("packed b", "plain b");
  if (problem_.depth < 0 || problem_.tap_count() < 1) refuse("a depth and taps", "neither");
  if (!reduces_depth() && problem_.depth != 1) refuse("depth 1", std::to_string(problem_.depth));
  if (reduces_depth() && is_integer(types_.a) && problem_.depth % 4 != 0)
    refuse("a depth that is a multiple of 4", std::to_string(problem_.depth));
}

void TilePlan::find_stand_ins() {
  for (const int height : tile_heights(problem_.row_count(), choice_))
    stands_in_ = stands_in_ || functions_.of(height).rows != height;
}

// Rows beyond those of a tile may be its last one again, unless that would read what it has just stored.
bool TilePlan::reads_its_stores() const {
  const auto& accesses = problem_.accesses;
  for (size_t i = 0; i < accesses.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (accesses[i].place.slot == accesses[k].place.slot) return true;
  return false;
}

int64_t TilePlan::k_bytes() const { return choice_.columns() * bit_width(types_.b) / 8; }

// Long depths go in blocks, so that a panel of b stays in the second-level cache while the rows pass.
void TilePlan::cut_depth() {
  const int64_t depth = problem_.depth;
  const int64_t taps = problem_.tap_count();
  const int64_t most = reduces_depth() ? std::max<int64_t>(64, kBlockBytes / k_bytes()) : depth * taps;
  if (tile_count_ <= 2 || depth * taps <= most + most / 2) {
    add_block({.tap_count = taps, .depth = depth, .taps = {}});
  } else if (depth <= most) {
    const int64_t count = divide_up(taps, std::max<int64_t>(1, most / depth));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t first = taps * i / count;
      add_block(
          {.first_tap = first, .tap_count = taps * (i + 1) / count - first, .depth = depth, .taps = {}});
    }
  } else {
    const int64_t count = divide_up(depth, most);
    const int64_t step = divide_up(divide_up(depth, count), 16) * 16;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t k = 0; k < depth; k += step)
        add_block({.first_tap = tap, .first_k = k, .depth = std::min(step, depth - k), .taps = {}});
  }
}

void TilePlan::add_block(Block block) {
  const int64_t b_step = types_.packed ? k_bytes() : problem_.b_stride;
  for (int64_t tap = block.first_tap; tap < block.first_tap + block.tap_count; ++tap)
    block.taps.push_back({.a = taps_[static_cast<size_t>(tap)] + block.first_k * bit_width(types_.a) / 8,
                          .b = (tap * problem_.depth + block.first_k) * b_step,
                          .number = tap});
  blocks_.push_back(std::move(block));
}

void TilePlan::cut_together() {
  constexpr int64_t kRowBytes = 16 << 10;
  constexpr int64_t kMostTiles = 16;
  const int64_t taps = problem_.tap_count();
  if (blocks_.size() == 1) {
    const int64_t panel_bytes = reads_b() ? std::max<int64_t>(1, k_bytes() * problem_.depth * taps) : 1;
    panels_together_ = std::clamp<int64_t>(kBlockBytes / panel_bytes, 1, std::max<int64_t>(1, panel_count_));
  }
  tiles_together_ = kMostTiles;
  const int64_t columns = reduces_depth() ? problem_.depth : problem_.columns;
  if (panels_together_ > 1 || !reduces_depth())
    tiles_together_ = kRowBytes / std::max<int64_t>(1, columns * bit_width(types_.a) / 8 * (tile_rows_ + 1));
  tiles_together_ = std::clamp<int64_t>(tiles_together_, 1, std::clamp<int64_t>(tile_count_, 1, kMostTiles));
}

// Pieces of some ten microseconds: small enough to share out evenly, large enough to be worth handing over.
// Between rows and panels the cut that reads less of a and b wins.
void TilePlan::cut_chunks() {
  constexpr double kChunk = 7e3, kMostChunks = 128;  // nanoseconds
  constexpr double kBytesPerNanosecond = 20;
  const double flops_per_nanosecond = !reduces_depth() ? 40 : is_integer(types_.a) ? 500 : 150;
  if (outer_count_ <= 0 || tile_count_ <= 0 || panel_count_ <= 0) {
    outer_chunks_ = 0;
    return;
  }
  const double taps = static_cast<double>(problem_.tap_count());
  const double rows = static_cast<double>(problem_.row_count());
  const double k = taps * static_cast<double>(problem_.depth);
  const double columns = static_cast<double>(panel_count_ * choice_.columns());
  const double b_bytes = reads_b() ? k * columns * bit_width(types_.b) / 8 : 0;
  const double a_bytes = rows * static_cast<double>(reduces_depth() ? problem_.depth : problem_.columns) *
                         bit_width(types_.a) / 8;
  const double each =
      std::max(2 * rows * columns * k / flops_per_nanosecond, (a_bytes + b_bytes) / kBytesPerNanosecond);
  const double outer = static_cast<double>(outer_count_);
  const double wanted = std::clamp(each * outer / kChunk, 1.0, kMostChunks);
  if (wanted <= outer) {
    outer_chunks_ = static_cast<int64_t>(wanted);
    return;
  }
  outer_chunks_ = outer_count_;
  const int64_t pieces = static_cast<int64_t>(wanted / outer + 0.5);
  double best = 0;
  for (int64_t panels = 1; panels <= std::min(pieces, panel_count_); ++panels) {
    const int64_t tiles = std::min(divide_up(pieces, panels), tile_count_);
    const double waste =
        static_cast<double>(divide_up(panel_count_, panels) * panels) / static_cast<double>(panel_count_) *
        static_cast<double>(divide_up(tile_count_, tiles) * tiles) / static_cast<double>(tile_count_) *
        std::max(1.0, static_cast<double>(pieces) / static_cast<double>(panels * tiles));
    const double cost =
        (b_bytes / static_cast<double>(panels) + a_bytes / static_cast<double>(tiles)) * waste;
    if (best != 0 && cost >= best) continue;
    best = cost;
    panel_chunks_ = panels;
    row_chunks_ = tiles;
  }
}

// The same whatever functions there are, so that the memory of an inference does not depend on them.
void TilePlan::lay_out_scratch() {
  const auto reserve = [this](int64_t bytes) {
    const int64_t at = scratch_.bytes;
    scratch_.bytes += divide_up(bytes, 64) * 64;
    return at;
  };
  constexpr int64_t kPointer = sizeof(void*);
  const auto accesses = static_cast<int64_t>(problem_.accesses.size());
  scratch_.a_rows = reserve(rows_together() * kPointer);
  scratch_.memory = reserve(rows_together() * accesses * kPointer);
  if (rows_.has_padding()) {
    scratch_.inside = reserve(rows_together() * static_cast<int64_t>(rows_.words() * sizeof(uint64_t)));
    scratch_.taps =
        reserve(tiles_together_ * problem_.tap_count() * static_cast<int64_t>(sizeof(kernel::TileTap)));
  }
  scratch_.runs = reserve(tiles_together_ * static_cast<int64_t>(sizeof(Run)));
  scratch_.walk = reserve((accesses + 1) * kPointer);
  if (!types_.packed && problem_.columns % choice_.columns() != 0)
    scratch_.tail = reserve(problem_.depth * k_bytes());
  if (blocks_.size() > 1)
    scratch_.partial = reserve(divide_up(tile_count_, row_chunks_) * choice_.rows * choice_.columns() * 4);
  constexpr int64_t kMostBytes = 8;  // of an element
  if (reads_its_stores()) scratch_.spare = reserve((problem_.columns + choice_.columns()) * kMostBytes);
}

}  // namespace ingot::cpu
