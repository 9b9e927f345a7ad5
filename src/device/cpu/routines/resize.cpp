#include "device/cpu/copy.h"
#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/mapped_copy.h"
#include "device/cpu/routines/resize_taps.h"
#include "device/cpu/routines/simd.h"
#include "device/cpu/routines/table.h"
#include "ir/numeric.h"

// Nearest moves cells; linear and cubic are separable and blend one axis after the other, in f32.
namespace ingot::cpu {
namespace {

constexpr int64_t kChunkElements = 8 << 10;

const ResizeAttrs& attrs_of(const RoutineCall& call) { return call.node.as<ResizeAttrs>(); }

struct Axes {
  size_t count = 0;
  std::array<ResizeAxis, kMaxRank> axes;
  std::span<const ResizeAxis> all() const { return {axes.data(), count}; }
};

// Those that change something.
Axes axes_of(const RoutineCall& call) {
  const ResizeAttrs& a = attrs_of(call);
  std::array<double, 2 *kMaxRank> roi = {}, scales = {};
  std::array<int64_t, kMaxRank> sizes = {};
  auto length = [&](size_t operand, size_t most) {
    const int64_t n = has(call, operand) ? call.in[operand].count() : 0;
    if (n > static_cast<int64_t>(most))
      refuse(call, fmt::format("at most {} numbers", most), fmt::format("{}", n));
    return static_cast<size_t>(n);
  };
  const size_t roi_count = length(1, roi.size()), size_count = length(3, sizes.size());
  size_t scale_count = length(2, scales.size());
  for (size_t i = 0; i < roi_count; ++i) roi[i] = real_at(call.in[1], static_cast<int64_t>(i));
  for (size_t i = 0; i < scale_count; ++i) scales[i] = real_at(call.in[2], static_cast<int64_t>(i));
  for (size_t i = 0; i < size_count; ++i) sizes[i] = integer_at(call.in[3], static_cast<int64_t>(i));
  std::span<const double> factors(scales.data(), scale_count);
  if (!has(call, 2)) factors = a.scales;
  Axes axes;
  const std::span<const int64_t> in(call.in[0].sizes.data(), static_cast<size_t>(call.in[0].rank));
  axes.count = resize_axes(a, in, {roi.data(), roi_count}, factors, {sizes.data(), size_count}, axes.axes);
  const auto end = std::remove_if(axes.axes.begin(), axes.axes.begin() + static_cast<ptrdiff_t>(axes.count),
                                  [&](const ResizeAxis& axis) { return axis.is_identity(a.coordinates); });
  axes.count = static_cast<size_t>(end - axes.axes.begin());
  return axes;
}

void resize_nearest(const RoutineCall& call, const Axes& axes) {
  const ResizeAttrs& a = attrs_of(call);
  const View& x = call.in[0];
  AxisMaps maps(x, call.out[0], call.scratch);
  for (const ResizeAxis& axis : axes.all()) {
    const std::span<int64_t> map = maps.axis(static_cast<size_t>(axis.axis));
    for (size_t o = 0; o < map.size(); ++o) {
      const double at = axis.coordinate(static_cast<int64_t>(o), a.coordinates);
      map[o] = axis.is_outside(at, a.coordinates)
                   ? AxisMaps::kNowhere
                   : nearest_position(axis, a.nearest, at) * x.strides[static_cast<size_t>(axis.axis)];
    }
  }
  std::byte fill[8];
  encode_from_f64(x.dtype, &a.extrapolation, 1, fill);
  maps.copy(fill, call.pool);
}

// to[i] = sum over k of weights[k] * rows[k][i]
INGOT_SIMD void blend_rows(const float* from, const ResizeTaps& taps, int64_t o, float* to, int64_t length) {
  const float *a = from + taps.index(0)[o] * length, wa = taps.weight(0)[o];
  if (taps.count == 1) {
    for (int64_t i = 0; i < length; ++i) to[i] = wa * a[i];
    return;
  }
  const float *b = from + taps.index(1)[o] * length, wb = taps.weight(1)[o];
  for (int64_t i = 0; i < length; ++i) to[i] = wa * a[i] + wb * b[i];
  for (int64_t k = 2; k < taps.count; ++k) {
    const float *c = from + taps.index(k)[o] * length, wc = taps.weight(k)[o];
    for (int64_t i = 0; i < length; ++i) to[i] += wc * c[i];
  }
}

INGOT_SIMD void blend_elements(const float* from, const ResizeTaps& taps, float* to) {
  const int32_t *ia = taps.index(0), *ib = taps.index(taps.count > 1 ? 1 : 0);
  const float *wa = taps.weight(0), *wb = taps.weight(taps.count > 1 ? 1 : 0);
  if (taps.count == 1)
    for (int64_t o = 0; o < taps.positions; ++o) to[o] = wa[o] * from[ia[o]];
  else
    for (int64_t o = 0; o < taps.positions; ++o) to[o] = wa[o] * from[ia[o]] + wb[o] * from[ib[o]];
  for (int64_t k = 2; k < taps.count; ++k) {
    const int32_t* ic = taps.index(k);
    const float* wc = taps.weight(k);
    for (int64_t o = 0; o < taps.positions; ++o) to[o] += wc[o] * from[ic[o]];
  }
}

// One axis of dense data: [rows, axis.in, run] to [rows, axis.out, run].
struct Pass {
  int64_t rows, in, run;
  float outside;
  const ResizeTaps& taps;

  void operator()(const float* from, float* to, ThreadPool& pool) const {
    const int64_t out = taps.positions;
    if (run == 1)
      pool.parallel_for(rows, std::max<int64_t>(kChunkElements / std::max<int64_t>(out, 1), 1),
                        [&](int64_t begin, int64_t end, int) {
                          for (int64_t r = begin; r < end; ++r) one_row(from + r * in, to + r * out);
                        });
    else
      pool.parallel_for(rows * out, std::max<int64_t>(kChunkElements / std::max<int64_t>(run, 1), 1),
                        [&](int64_t begin, int64_t end, int) {
                          for (int64_t i = begin; i < end; ++i)
                            one_run(from + i / out * in * run, i % out, to + i * run);
                        });
  }

 private:
  void one_run(const float* from, int64_t o, float* to) const {
    if (taps.is_outside(o))
      std::fill_n(to, run, outside);
    else
      blend_rows(from, taps, o, to, run);
  }

  // Positions outside lie at the two ends.
  void one_row(const float* from, float* to) const {
    int64_t first = 0, last = taps.positions;
    while (first < last && taps.is_outside(first)) to[first++] = outside;
    while (last > first && taps.is_outside(last - 1)) to[--last] = outside;
    if (first == 0 && last == taps.positions) return blend_elements(from, taps, to);
    for (int64_t o = first; o < last; ++o) one_run(from, o, to + o);
  }
};

// Scratch memory of a blend: a dense copy of x where it is not dense, what lies between two axes, the dense
// result where the output is not dense, and the taps of the axis at hand.
struct BlendMemory {
  explicit BlendMemory(const RoutineCall& call) {
    const View &x = call.in[0], &out = call.out[0];
    int64_t most = 1, tap_bytes = 0;  // the axes may come in any order
    for (size_t i = 0; i < static_cast<size_t>(x.rank); ++i) {
      tap_bytes = std::max(tap_bytes, resize_tap_bytes(attrs_of(call), x.sizes[i], out.sizes[i]));
      most *= std::max(x.sizes[i], out.sizes[i]);
    }
    buffer = (most + 15) / 16 * 16;
    total = 2 * buffer * static_cast<int64_t>(sizeof(float)) + tap_bytes;
  }
  int64_t buffer;  // floats
  int64_t total;   // bytes
};

// Works on the axes in the order in which x has them in memory, whatever the layout.
void resize_blend(const RoutineCall& call, Axes axes) {
  const ResizeAttrs& a = attrs_of(call);
  const BlendMemory memory(call);
  const AxisOrder order = order_of_strides(call.in[0]);
  const View x = permuted(call.in[0], order), out = permuted(call.out[0], order);
  for (ResizeAxis& axis : std::span(axes.axes).first(axes.count))
    axis.axis = std::find(order.begin(), order.end(), static_cast<size_t>(axis.axis)) - order.begin();
  float* buffers[2] = {reinterpret_cast<float*>(call.scratch),
                       reinterpret_cast<float*>(call.scratch) + memory.buffer};
  auto dense_in = [&](View view, float* data) {
    view.data = reinterpret_cast<std::byte*>(data);
    int64_t step = 1;
    for (auto i = static_cast<size_t>(view.rank); i-- > 0; step *= view.sizes[i]) view.strides[i] = step;
    return view;
  };
  // What the next axis reads; a dense view may have any stride along axes of one element.
  const bool dense = x.is_dense();
  View at = dense_in(x, dense ? elements<float>(x) : buffers[0]);
  if (!dense) copy(x, at, call.pool);
  int next = dense ? 0 : 1;
  for (const ResizeAxis& axis : axes.all()) {
    const auto k = static_cast<size_t>(axis.axis);
    const ResizeTaps taps =
        make_resize_taps(a, axis, reinterpret_cast<std::byte*>(buffers[0] + 2 * memory.buffer));
    View to = at;
    to.sizes[k] = axis.out;
    const bool last = &axis == &axes.all().back();
    to = dense_in(to, last && out.is_dense() ? elements<float>(out) : buffers[next]);
    const Pass pass = {at.count() == 0 ? 0 : at.count() / (at.sizes[k] * at.strides[k]), at.sizes[k],
                       at.strides[k], static_cast<float>(a.extrapolation), taps};
    pass(elements<const float>(at), elements<float>(to), call.pool);
    at = to;
    next = 1 - next;
  }
  if (at.data != out.data) copy(at, out, call.pool);
}

void resize(const RoutineCall& call) {
  const Axes axes = axes_of(call);
  if (attrs_of(call).mode == ResizeMode::nearest)
    resize_nearest(call, axes);
  else
    resize_blend(call, axes);
}

int64_t scratch_bytes(const RoutineCall& call) {
  if (attrs_of(call).mode == ResizeMode::nearest) return AxisMaps::bytes(call.out[0]);
  return BlendMemory(call).total;
}

bool supports(const RoutineCall& call) {
  const bool nearest = attrs_of(call).mode == ResizeMode::nearest;
  return moves_cells(call) && attrs_of(call).axes.size() <= kMaxRank &&
         (nearest || call.in[0].dtype == DType::f32);
}

}  // namespace

void add_resize_routines(RoutineTable& t) {
  t[Op::Resize] = {.supports = supports, .scratch_bytes = scratch_bytes, .run = resize};
}

}  // namespace ingot::cpu
