#include "device/cpu/routines/mapped_copy.h"

#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/move.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kChunkBytes = 32 << 10;

// The longest run of a map from `begin` on that is equally spaced.
struct Run {
  int64_t begin, end, step;
};

Run run_from(std::span<const int64_t> map, int64_t begin) {
  const auto size = static_cast<int64_t>(map.size());
  auto at = [&](int64_t i) { return map[static_cast<size_t>(i)]; };
  if (begin + 1 == size || at(begin) == AxisMaps::kNowhere || at(begin + 1) == AxisMaps::kNowhere) {
    int64_t end = begin + 1;
    while (end < size && at(begin) == AxisMaps::kNowhere && at(end) == AxisMaps::kNowhere) ++end;
    return {begin, end, 0};
  }
  const int64_t step = at(begin + 1) - at(begin);
  int64_t end = begin + 2;
  while (end < size && at(end) != AxisMaps::kNowhere && at(end) - at(end - 1) == step) ++end;
  return {begin, end, step};
}

// A row cut into equally spaced runs, where that makes few of them.
struct Runs {
  static constexpr int kMost = 16;

  explicit Runs(std::span<const int64_t> map) {
    for (int64_t at = 0; at < static_cast<int64_t>(map.size());) {
      if (count == kMost) {
        count = 0;
        return;
      }
      runs[static_cast<size_t>(count++)] = run_from(map, at);
      at = runs[static_cast<size_t>(count - 1)].end;
    }
  }

  int count = 0;  // 0: too many
  std::array<Run, kMost> runs;
};

template <class T>
INGOT_SIMD void pick(const T* from, const int64_t* map, T fill, T* to, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i * step] = map[i] == AxisMaps::kNowhere ? fill : from[map[i]];
}

}  // namespace

int64_t AxisMaps::bytes(const View& out) {
  int64_t positions = 0;
  for (size_t i = 0; i < static_cast<size_t>(out.rank); ++i) positions += out.sizes[i];
  return positions * int64_t{sizeof(int64_t)};
}

AxisMaps::AxisMaps(const View& x, const View& out, std::byte* scratch)
    : x_(x), order_(order_of_strides(out)), out_(permuted(out, order_)) {
  auto* next = reinterpret_cast<int64_t*>(scratch);
  for (size_t k = 0; k < static_cast<size_t>(out_.rank); ++k) {
    maps_[k] = next;
    for (int64_t i = 0; i < out_.sizes[k]; ++i) *next++ = i * x.strides[order_[k]];
  }
}

std::span<int64_t> AxisMaps::axis(size_t k) {
  const auto at = static_cast<size_t>(std::find(order_.begin(), order_.end(), k) - order_.begin());
  return {maps_[at], static_cast<size_t>(out_.sizes[at])};
}

template <class T>
void AxisMaps::copy_rows(T fill, int64_t begin, int64_t end) const {
  const auto last = static_cast<size_t>(out_.rank - 1);
  const int64_t length = out_.sizes[last], step = out_.strides[last];
  const std::span<const int64_t> map(maps_[last], static_cast<size_t>(length));
  const Runs runs(map);
  StridedWalk<1> walk(out_.rank - 1, out_.sizes, {out_.strides}, begin);
  for (int64_t row = begin; row < end; ++row, walk.next()) {
    int64_t offset = 0;
    for (size_t k = 0; k < last && offset != kNowhere; ++k) {
      const int64_t at = maps_[k][walk.position(k)];
      offset = at == kNowhere ? kNowhere : offset + at;
    }
    T* to = elements<T>(out_) + walk.at[0];
    if (offset == kNowhere) {
      move_run<T>(&fill, 0, to, step, length);
      continue;
    }
    const T* from = elements<const T>(x_) + offset;
    for (int r = 0; r < runs.count; ++r) {
      const Run& run = runs.runs[static_cast<size_t>(r)];
      const int64_t source = map[static_cast<size_t>(run.begin)];
      const T* first = source == kNowhere ? &fill : from + source;
      move_run<T>(first, run.step, to + run.begin * step, step, run.end - run.begin);
    }
    if (runs.count == 0) pick(from, map.data(), fill, to, step, length);
  }
}

void AxisMaps::copy(const std::byte* fill, ThreadPool& pool) const {
  if (out_.count() == 0) return;
  with_cell(out_.dtype, [&](auto zero) {
    using T = decltype(zero);
    T rest = zero;
    if (fill != nullptr) std::memcpy(&rest, fill, sizeof rest);
    if (out_.rank == 0) {
      *elements<T>(out_) = *elements<const T>(x_);
      return;
    }
    const int64_t row = out_.sizes[static_cast<size_t>(out_.rank - 1)];
    pool.parallel_for(out_.count() / row, std::max<int64_t>(kChunkBytes / (row * int64_t{sizeof(T)}), 1),
                      [&](int64_t begin, int64_t end, int) { copy_rows(rest, begin, end); });
  });
}

}  // namespace ingot::cpu
