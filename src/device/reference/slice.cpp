#include <cmath>
#include <numeric>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"
#include "ir/arithmetic.h"

// Kernels that take each axis by itself: an output element lies where the maps of its axes point.
namespace ingot::reference {
namespace {

// Each position of a shape to itself.
AxisMaps identity_maps(const Shape& shape) {
  Shape strides = row_major_strides(shape);
  AxisMaps maps(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis)
    for (int64_t i = 0; i < shape[axis]; ++i) maps[axis].push_back(i * strides[axis]);
  return maps;
}

// Fills `result` by the maps; where nothing lies behind a position it takes the one element of `fill`, or
// stays zero.
void move(const Tensor& x, const AxisMaps& maps, const Tensor* fill, Tensor& result) {
  with_cell(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> in(x);
    T rest = fill != nullptr ? Cells<T>(*fill)[0] : T();
    OutCells<T> out(result);
    walk_mapped(maps, [&](int64_t i, int64_t at) { out[i] = at < 0 ? rest : in[at]; });
  });
}

// The axes an operand names, or the first `count` of them.
std::vector<size_t> axes_of(const KernelContext& c, size_t operand, size_t count) {
  std::vector<size_t> axes(count);
  std::iota(axes.begin(), axes.end(), size_t{0});
  if (!c.has(operand)) return axes;
  axes.clear();
  for (int64_t a : c.ints(operand)) axes.push_back(static_cast<size_t>(normal_axis(a, c.in(0).rank())));
  return axes;
}

void slice(KernelContext& c) {
  const Tensor& x = c.in(0);
  Tensor& result = c.out(0);
  AxisMaps maps = identity_maps(x.shape());
  Shape strides = row_major_strides(x.shape());
  auto starts = c.ints(1), steps = c.ints(4);
  auto axes = axes_of(c, 3, starts.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t size = x.shape()[axes[k]], step = steps.empty() ? 1 : steps[k];
    int64_t start = starts[k] < 0 ? std::max<int64_t>(starts[k] + size, 0) : starts[k];
    start = std::min(start, step > 0 ? size : size - 1);
    auto& map = maps[axes[k]];
    map.assign(static_cast<size_t>(result.shape()[axes[k]]), 0);
    for (size_t i = 0; i < map.size(); ++i)
      map[i] = (start + (i == 0 ? 0 : static_cast<int64_t>(i) * step)) * strides[axes[k]];
  }
  move(x, maps, nullptr, result);
}

// Where position `at`, which may lie outside [0, size), reads from; -1: from nowhere.
int64_t padded_source(PadMode mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  switch (mode) {
    case PadMode::constant: return -1;
    case PadMode::edge: return at < 0 ? 0 : size - 1;
    case PadMode::wrap: return (at % size + size) % size;
    case PadMode::reflect: break;
  }
  int64_t period = std::max<int64_t>(2 * (size - 1), 1);
  int64_t phase = (at % period + period) % period;
  return phase < size ? phase : period - phase;
}

void pad(KernelContext& c) {
  const Tensor& x = c.in(0);
  Tensor& result = c.out(0);
  PadMode mode = c.attrs<PadAttrs>().mode;
  AxisMaps maps = identity_maps(x.shape());
  Shape strides = row_major_strides(x.shape());
  auto pads = c.ints(1);
  auto axes = axes_of(c, 3, pads.size() / 2);
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t size = x.shape()[axes[k]], wanted = result.shape()[axes[k]];
    if (size == 0 && wanted > 0 && mode != PadMode::constant)
      c.fail(fmt::format("something to pad from along axis {}", axes[k]), "size 0");
    auto& map = maps[axes[k]];
    map.clear();
    for (int64_t i = 0; i < wanted; ++i) {
      int64_t at = padded_source(mode, i - pads[k], size);
      map.push_back(at < 0 ? -1 : at * strides[axes[k]]);
    }
  }
  if (c.has(2) && c.in(2).count() != 1) c.fail("one value to pad with", fmt::format("{}", c.in(2).count()));
  move(x, maps, c.has(2) ? &c.in(2) : nullptr, result);
}

void tile(KernelContext& c) {
  const Tensor& x = c.in(0);
  AxisMaps maps = identity_maps(x.shape());
  for (size_t axis = 0; axis < maps.size(); ++axis) {
    std::vector<int64_t> once = maps[axis];
    auto& map = maps[axis];
    map.resize(static_cast<size_t>(c.out(0).shape()[axis]));
    for (size_t i = once.size(); i < map.size(); ++i) map[i] = map[i - once.size()];
  }
  move(x, maps, nullptr, c.out(0));
}

void split(KernelContext& c) {
  const Tensor& x = c.in(0);
  auto axis = static_cast<size_t>(normal_axis(c.attrs<SplitAttrs>().axis, x.rank()));
  const AxisMaps whole = identity_maps(x.shape());
  int64_t start = 0;
  for (size_t k = 0; k < c.output_count(); ++k) {
    AxisMaps maps = whole;
    auto from = whole[axis].begin() + start;
    start += c.out(k).shape()[axis];
    maps[axis].assign(from, whole[axis].begin() + start);
    move(x, maps, nullptr, c.out(k));
  }
}

void range(KernelContext& c) {
  with_wide(c.in(0).dtype(), [&](auto zero) {
    using W = decltype(zero);
    W start = load<W>(c.in(0)).at(0), limit = load<W>(c.in(1)).at(0), step = load<W>(c.in(2)).at(0);
    if (step == 0) c.fail("a step other than 0", "0");
    int64_t count = range_count(start, limit, step);
    if (count < 0) c.fail("finite numbers", "a range without end");
    Tensor result = Tensor::allocate(c.in(0).dtype(), {count});
    std::vector<W> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<W>(start + static_cast<W>(i) * step);
    store(result, values);
    c.set(0, result);
  });
}

}  // namespace

void add_slice_kernels(KernelTable& t) {
  t[Op::Slice] = slice;
  t[Op::Pad] = pad;
  t[Op::Tile] = tile;
  t[Op::Split] = split;
  t[Op::Range] = range;
}

}  // namespace ingot::reference
