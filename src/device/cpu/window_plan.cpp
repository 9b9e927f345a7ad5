#include "device/cpu/window_plan.h"

#include <algorithm>
#include <map>

#include "ingot/error.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kAlignment = 64;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t aligned(int64_t bytes) { return divide_up(bytes, kAlignment) * kAlignment; }

// The taps of an output position that read the input: [first, second).
std::pair<int64_t, int64_t> taps_inside(const RowAxis& axis, int64_t output) {
  const int64_t start = output * axis.step - axis.before;
  int64_t low = 0, high = axis.taps;
  while (low < high && start + low * axis.dilation < 0) ++low;
  while (high > low && start + (high - 1) * axis.dilation >= axis.input) --high;
  return {low, high};
}

}  // namespace

WindowPlan::WindowPlan(TileProblem problem, const TileTypes& types, const TileChoice& choice,
                       const TileFunctions& functions)
    : problem_(std::move(problem)), types_(types), choice_(choice), functions_(functions) {
  panel_count_ = divide_up(problem_.columns, choice_.columns());
  cut_lines();
  check();
  padding_.assign(static_cast<size_t>(choice_.columns()), static_cast<float>(problem_.padding));
  for (const TileAccess& access : problem_.accesses) row_steps_.push_back(access.rows[kRowDims - 1]);
  list_taps();
  cut_chunks();
}

void WindowPlan::check() const {
  const auto require = [](bool holds, const char* expected, std::string observed) {
    if (!holds)
      throw Error({.code = ErrorCode::internal,
                   .object = "window problem",
                   .expected = expected,
                   .observed = std::move(observed)});
  };
  const kernel::TileWindow window{static_cast<int32_t>(inner().taps), static_cast<int32_t>(inner().step),
                                  static_cast<int32_t>(inner().dilation)};
  require(window == choice_.window, "the window of its tiles", "another one");
  require(types_.a == DType::f32 && problem_.depth == 1, "f32 without a depth",
          std::string(to_string(types_.a)));
  require(problem_.outer == std::array<int64_t, kOuterDims>{1, 1, 1} && axis(0).taps == 1, "one problem",
          "several");
  for (const auto& [tiles, height] :
       {std::pair(low_tiles_, low_height_), std::pair(high_tiles_, high_height_)})
    require(tiles == 0 || functions_.of(height).function != nullptr, "a kernel for every height of tiles",
            "none for " + std::to_string(height));
}

// As few tiles as can be of the kernels that there are.
void WindowPlan::cut_lines() {
  const int64_t width = inner().extent;
  if (width <= 0) return;
  const int64_t tiles = divide_up(width, choice_.rows);
  low_height_ = width / tiles;
  high_height_ = low_height_ + 1;
  high_tiles_ = width % tiles;
  low_tiles_ = tiles - high_tiles_;
  wanted_tiles_ = tiles;
  const auto is_there = [&](int64_t height) { return functions_.of(height).function != nullptr; };
  if (is_there(low_height_) && (high_tiles_ == 0 || is_there(high_height_))) return;
  int64_t fewest = 0;
  for (int64_t high = 1; high <= choice_.rows; ++high)
    for (int64_t low = 1; low <= high; ++low) {
      const int64_t rest = width % high;
      const int64_t count = width / high + rest / low;
      if (!is_there(high) || !is_there(low) || rest % low != 0 || (fewest != 0 && count >= fewest)) continue;
      fewest = count;
      high_height_ = high, low_height_ = low;
      high_tiles_ = width / high, low_tiles_ = rest / low;
    }
}

int64_t WindowPlan::tap_bytes() const { return choice_.columns() * bit_width(types_.b) / 8; }

// Lines whose windows are cut alike share a list.
void WindowPlan::list_taps() {
  using Inside = std::pair<std::pair<int64_t, int64_t>, std::pair<int64_t, int64_t>>;
  std::map<Inside, TapRange> known;
  const RowAxis& outer = axis(1);
  const RowAxis& middle = axis(2);
  for (int64_t line = 0; line < outer.extent * middle.extent; ++line) {
    const Inside inside{taps_inside(outer, line / middle.extent), taps_inside(middle, line % middle.extent)};
    const auto [place, is_new] = known.try_emplace(inside, TapRange{static_cast<int64_t>(taps_.size()), 0});
    if (is_new)
      for (int64_t d = inside.first.first; d < inside.first.second; ++d)
        for (int64_t h = inside.second.first; h < inside.second.second; ++h, ++place->second.count)
          taps_.push_back({.a = d * outer.dilation * outer.stride + h * middle.dilation * middle.stride,
                           .b = (d * middle.taps + h) * inner().taps * tap_bytes()});
    ranges_.push_back(place->second);
  }
}

// Pieces of some ten microseconds, cut between lines while there are enough of them.
void WindowPlan::cut_chunks() {
  constexpr double kChunk = 7e3, kMostChunks = 128;  // nanoseconds
  constexpr double kFlopsPerNanosecond = 70, kBytesPerNanosecond = 20;
  constexpr int64_t kBytesTogether = 96 << 10;
  if (lines() <= 0 || inner().extent <= 0 || panel_count_ <= 0) return;
  const double outputs = static_cast<double>(problem_.row_count() * panel_count_ * choice_.columns());
  const double inputs = static_cast<double>(axis(0).extent * axis(1).input * axis(2).input * inner().input) *
                        static_cast<double>(problem_.columns);
  const double time = std::max(2 * outputs * static_cast<double>(problem_.tap_count()) / kFlopsPerNanosecond,
                               4 * (inputs + outputs) / kBytesPerNanosecond);
  const auto wanted = static_cast<int64_t>(std::clamp(time / kChunk + 0.5, 1.0, kMostChunks));
  line_chunks_ = std::min(wanted, divide_up(lines(), 2));
  panel_chunks_ = std::min(divide_up(wanted, line_chunks_), panel_count_);
  const int64_t line_bytes = inner().input * problem_.columns * 4 * std::max<int64_t>(1, axis(2).step);
  lines_together_ = std::clamp<int64_t>(kBytesTogether / std::max<int64_t>(1, line_bytes), 1, 16);
  // Room for a line of single rows, and the same whatever functions there are.
  most_tiles_ = std::max(lines_together_ * wanted_tiles_, inner().extent);
  lines_together_ = std::clamp<int64_t>(most_tiles_ / tiles_per_line(), 1, lines_together_);
}

int64_t WindowPlan::scratch_bytes() const {
  const auto accesses = static_cast<int64_t>(problem_.accesses.size());
  return aligned(most_tiles_ * static_cast<int64_t>(sizeof(kernel::WindowTile))) +
         aligned(most_tiles_ * accesses * static_cast<int64_t>(sizeof(void*)));
}

// One thread's walk over chunks of a plan.
class WindowRun {
 public:
  WindowRun(const WindowPlan& plan, std::byte* const* memory, std::byte* scratch)
      : plan_(plan), problem_(plan.problem_), memory_(memory) {
    tiles_ = reinterpret_cast<kernel::WindowTile*>(scratch);
    places_ = reinterpret_cast<std::byte**>(
        scratch + aligned(plan.most_tiles_ * static_cast<int64_t>(sizeof(kernel::WindowTile))));
    call_.sizes = problem_.sizes.data();
    call_.padding = reinterpret_cast<const std::byte*>(plan.padding_.data());
    call_.memory_step = plan.most_tiles_;
    call_.memory_row = plan.row_steps_.data();
    call_.a_step = plan.inner().stride;
  }

  void chunk(int64_t index) {
    const int64_t line = index / plan_.panel_chunks_, panel = index % plan_.panel_chunks_;
    const int64_t end = plan_.lines() * (line + 1) / plan_.line_chunks_;
    for (int64_t first = plan_.lines() * line / plan_.line_chunks_; first < end;
         first += plan_.lines_together_) {
      const int64_t count = std::min(plan_.lines_together_, end - first);
      for (int64_t i = 0; i < count; ++i) list_line(first + i, i, count);
      for (int64_t p = plan_.panel_count_ * panel / plan_.panel_chunks_;
           p < plan_.panel_count_ * (panel + 1) / plan_.panel_chunks_; ++p)
        call(p, count);
    }
  }

 private:
  // Tiles of the line number `i` of `count`: the higher ones of all lines come before all others.
  void list_line(int64_t line, int64_t i, int64_t count) {
    const int64_t high = plan_.high_tiles_, low = plan_.low_tiles_;
    const std::array<int64_t, 3> at{line / (plan_.axis(2).extent * plan_.axis(1).extent),
                                    line / plan_.axis(2).extent % plan_.axis(1).extent,
                                    line % plan_.axis(2).extent};
    const std::byte* a = memory_[problem_.a.slot] + problem_.a.offset;
    for (size_t d = 0; d < at.size(); ++d)
      a += (at[d] * plan_.axis(d).step - plan_.axis(d).before) * plan_.axis(d).stride;
    const auto& range = plan_.ranges_[static_cast<size_t>(line % static_cast<int64_t>(plan_.ranges_.size()))];
    const kernel::TileTap* taps = plan_.taps_.data() + range.first;
    list_tiles(a, taps, range.count, i * high, 0, high, plan_.high_height_);
    const int64_t rest = high * plan_.high_height_;
    list_tiles(a, taps, range.count, count * high + i * low, rest, low, plan_.low_height_);
    for (size_t access = 0; access < problem_.accesses.size(); ++access) {
      std::byte* start = place_of(problem_.accesses[access], at);
      list_places(access, start, i * high, high, plan_.high_height_);
      list_places(access, start + rest * plan_.row_steps_[access], count * high + i * low, low,
                  plan_.low_height_);
    }
  }

  std::byte* place_of(const TileAccess& access, const std::array<int64_t, 3>& at) const {
    std::byte* place = memory_[access.place.slot] + access.place.offset;
    for (size_t d = 0; d < at.size(); ++d) place += at[d] * access.rows[d];
    return place;
  }

  void list_tiles(const std::byte* a, const kernel::TileTap* taps, int64_t tap_count, int64_t index,
                  int64_t row, int64_t count, int64_t height) {
    const RowAxis& axis = plan_.inner();
    for (int64_t tile = 0; tile < count; ++tile, row += height) {
      const int64_t position = row * axis.step - axis.before;
      tiles_[index + tile] = {a + position * axis.stride, -position, axis.input - position, taps, tap_count};
    }
  }

  void list_places(size_t access, std::byte* start, int64_t index, int64_t count, int64_t height) {
    std::byte** out = places_ + static_cast<int64_t>(access) * plan_.most_tiles_ + index;
    for (int64_t tile = 0; tile < count; ++tile) out[tile] = start + tile * height * plan_.row_steps_[access];
  }

  void call(int64_t panel, int64_t lines) {
    call_.column = panel * plan_.choice_.columns();
    call_.columns = std::min(plan_.choice_.columns(), problem_.columns - call_.column);
    if (plan_.types_.kind == kernel::TileKind::depthwise)
      call_.b =
          memory_[problem_.b.slot] + problem_.b.offset + panel * problem_.tap_count() * plan_.tap_bytes();
    const int64_t high = lines * plan_.high_tiles_;
    call_tiles(0, high, plan_.high_height_);
    call_tiles(high, lines * plan_.low_tiles_, plan_.low_height_);
  }

  void call_tiles(int64_t first, int64_t count, int64_t height) {
    if (count == 0) return;
    call_.tiles = count;
    call_.windows = tiles_ + first;
    call_.memory = places_ + first;
    plan_.functions_.of(height).function(&call_);
  }

  const WindowPlan& plan_;
  const TileProblem& problem_;
  std::byte* const* memory_;
  kernel::TileCall call_;
  kernel::WindowTile* tiles_;
  std::byte** places_;  // [access][tile]
};

void WindowPlan::run(std::byte* const* memory, int64_t begin, int64_t end, std::byte* scratch) const {
  WindowRun run(*this, memory, scratch);
  for (int64_t index = begin; index < end; ++index) run.chunk(index);
}

std::vector<int> tile_heights(const TileProblem& problem, const TileChoice& choice) {
  const bool slides = choice.window.taps != 0;
  return tile_heights(slides ? problem.rows[kRowDims - 1].extent : problem.row_count(), choice);
}

std::unique_ptr<TileDriver> make_tile_driver(TileProblem problem, const TileTypes& types,
                                             const TileChoice& choice, const TileFunctions& functions) {
  if (choice.window.taps != 0)
    return std::make_unique<WindowPlan>(std::move(problem), types, choice, functions);
  return std::make_unique<TilePlan>(std::move(problem), types, choice, functions);
}

}  // namespace ingot::cpu
