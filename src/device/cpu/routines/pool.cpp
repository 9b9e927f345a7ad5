#include <cmath>
#include <limits>

#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/numbers.h"
#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/simd.h"
#include "device/cpu/routines/table.h"
#include "device/cpu/routines/walk.h"
#include "ir/window.h"

// Pooling that is no tile: with indices, or of p-norms.
namespace ingot::cpu {
namespace {

constexpr int64_t kGrain = 256;  // windows
constexpr size_t kMostAxes = kMaxRank - 2;

// The windows of one plane.
struct PoolWindows {
  template <class A>
  PoolWindows(const RoutineCall& call, const A& a) : x(call.in[0]), spatial(static_cast<size_t>(x.rank - 2)) {
    const WindowAttrs attrs = window_attrs(a);
    for (size_t i = 0; i < spatial; ++i) {
      kernel[i] = a.kernel[i];
      axes[i] = resolve_padding(attrs, window_axis(attrs, i, spatial), x.sizes[i + 2], kernel[i]);
    }
  }

  std::span<const int64_t> plane() const { return {x.sizes.data() + 2, spatial}; }

  const View& x;
  size_t spatial;
  std::array<int64_t, kMostAxes> kernel = {};
  std::array<WindowAxis, kMostAxes> axes = {};
};

// The cells of a window that lie in the data, in order.
class Cells {
 public:
  template <class W>
  Cells(const PoolWindows& w, const W& walk) {
    Strides sizes = {};
    std::array<Strides, 2> steps = {};
    int64_t plane_step = 1;
    for (size_t i = w.spatial; i-- > 0; plane_step *= w.x.sizes[i + 2]) {
      const WindowAxis& axis = w.axes[i];
      const int64_t in = w.x.sizes[i + 2], start = walk.position(i + 2) * axis.stride - axis.pad_begin;
      const int64_t first = start < 0 ? (-start + axis.dilation - 1) / axis.dilation : 0;
      const int64_t end =
          in > start ? std::min(w.kernel[i], (in - start + axis.dilation - 1) / axis.dilation) : 0;
      sizes[i] = std::max<int64_t>(end - first, 0);
      count_ *= sizes[i];
      memory_ += (start + first * axis.dilation) * w.x.strides[i + 2];
      plane_ += (start + first * axis.dilation) * plane_step;
      steps[0][i] = axis.dilation * w.x.strides[i + 2];
      steps[1][i] = axis.dilation * plane_step;
    }
    walk_.emplace(static_cast<int>(w.spatial), sizes, steps);
  }

  // Calls f(offset in memory, offset in a dense plane).
  template <class F>
  INGOT_INLINE void each(F f) {
    for (int64_t i = 0; i < count_; ++i, walk_->next()) f(memory_ + walk_->at[0], plane_ + walk_->at[1]);
  }

 private:
  int64_t count_ = 1, memory_ = 0, plane_ = 0;
  std::optional<StridedWalk<2>> walk_;
};

// Calls f(offset of the plane in x, number of the plane, walk over the outputs, cells) for each window.
template <size_t N, class F>
void each_window(const PoolWindows& w, const View& out, const std::array<Strides, N>& outputs,
                 ThreadPool& pool, F f) {
  Strides planes = {};
  planes[0] = w.x.strides[0], planes[1] = w.x.strides[1];
  pool.parallel_for(out.count(), kGrain, [&](int64_t begin, int64_t end, int) {
    std::array<Strides, N + 1> strides;
    std::copy(outputs.begin(), outputs.end(), strides.begin());
    strides[N] = planes;
    StridedWalk<N + 1> walk(out.rank, out.sizes, strides, begin);
    for (int64_t i = begin; i < end; ++i, walk.next())
      f(walk.at[N], walk.position(0) * out.sizes[1] + walk.position(1), walk, Cells(w, walk));
  });
}

// Whether x takes the place of the largest so far; the first NaN does and stays.
template <class T>
bool exceeds(T x, T largest) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(x)) return !std::isnan(largest);
  return x > largest;
}

template <class T>
T of_nothing() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return static_cast<T>(std::numeric_limits<Wide<T>>::lowest());
}

void max_pool(const RoutineCall& call) {
  const auto& a = call.node.as<MaxPoolAttrs>();
  const PoolWindows w(call, a);
  const View &values = call.out[0], &indices = call.out[1];
  int64_t plane_size = 1;
  for (int64_t n : w.plane()) plane_size *= n;
  with_number(w.x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const View& shape = is_absent(values) ? indices : values;
    each_window<2>(w, shape, {values.strides, indices.strides}, call.pool,
                   [&](int64_t x_offset, int64_t plane, const auto& walk, Cells cells) {
                     const T* x = elements<const T>(w.x) + x_offset;
                     int64_t best = -1, place = -1;
                     cells.each([&](int64_t at, int64_t in_plane) {
                       if (place < 0 || exceeds(x[at], x[best])) best = at, place = in_plane;
                     });
                     if (!is_absent(values))
                       elements<T>(values)[walk.at[0]] = place < 0 ? of_nothing<T>() : x[best];
                     if (is_absent(indices)) return;
                     const int64_t offset =
                         a.column_major_indices && place >= 0 ? column_major(place, w.plane()) : place;
                     elements<int64_t>(indices)[walk.at[1]] = place < 0 ? -1 : plane * plane_size + offset;
                   });
  });
}

void lp_pool(const RoutineCall& call) {
  const auto& a = call.node.as<LpPoolAttrs>();
  const PoolWindows w(call, a);
  const double p = a.p;
  each_window<1>(w, call.out[0], {call.out[0].strides}, call.pool,
                 [&](int64_t x_offset, int64_t, const auto& walk, Cells cells) {
                   const float* x = elements<const float>(w.x) + x_offset;
                   double sum = 0;
                   cells.each([&](int64_t at, int64_t) {
                     const auto e = static_cast<double>(x[at]);
                     sum += p == 2 ? e * e : std::pow(std::fabs(e), p);
                   });
                   elements<float>(call.out[0])[walk.at[0]] =
                       static_cast<float>(p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p));
                 });
}

bool has_planes(const RoutineCall& call) { return moves_cells(call) && call.in[0].rank >= 3; }

}  // namespace

void add_pool_routines(RoutineTable& t) {
  t[Op::MaxPool] = {
      .supports = [](const RoutineCall& call) { return has_planes(call) && is_number(call.in[0].dtype); },
      .run = max_pool};
  t[Op::LpPool] = {
      .supports = [](const RoutineCall& call) { return has_planes(call) && call.in[0].dtype == DType::f32; },
      .run = lp_pool};
}

}  // namespace ingot::cpu
