#include "device/cpu/routines/resize_taps.h"

namespace ingot::cpu {
namespace {

int64_t most_taps(const ResizeAttrs& attrs, int64_t in, int64_t out) {
  const double radius = attrs.mode == ResizeMode::linear ? 1 : 2;
  // The scale is what gave this size before it was rounded.
  const double scale = (static_cast<double>(out) - 0.5) / static_cast<double>(std::max<int64_t>(in, 1));
  const double stretch = attrs.antialias ? std::clamp(scale, 1e-9, 1.0) : 1;
  return static_cast<int64_t>(2 * radius / stretch) + 2;
}

}  // namespace

int64_t resize_tap_bytes(const ResizeAttrs& attrs, int64_t in, int64_t out) {
  return out * most_taps(attrs, in, out) * static_cast<int64_t>(sizeof(int32_t) + sizeof(float));
}

ResizeTaps make_resize_taps(const ResizeAttrs& attrs, const ResizeAxis& axis, std::byte* memory) {
  ResizeTaps taps = {.count = 1, .positions = axis.out};
  for (int64_t o = 0; o < axis.out; ++o) {
    const double x = axis.coordinate(o, attrs.coordinates);
    int64_t count = 0;
    if (!axis.is_outside(x, attrs.coordinates)) blend_taps(attrs, axis, x, [&](int64_t, double) { ++count; });
    taps.count = std::max(taps.count, count);
  }
  taps.indices = reinterpret_cast<int32_t*>(memory);
  taps.weights = reinterpret_cast<float*>(taps.indices + taps.count * taps.positions);
  for (int64_t o = 0; o < axis.out; ++o) {
    const double x = axis.coordinate(o, attrs.coordinates);
    int64_t k = 0;
    auto set = [&](int64_t index, float weight) {
      taps.indices[k * taps.positions + o] = static_cast<int32_t>(index);
      taps.weights[k++ * taps.positions + o] = weight;
    };
    if (!axis.is_outside(x, attrs.coordinates))
      blend_taps(attrs, axis, x,
                 [&](int64_t index, double weight) { set(index, static_cast<float>(weight)); });
    else
      set(-1, 0);
    if (k == 0) set(0, 0);
    // A weight of zero would make NaN of an infinite element; two halves of the last tap do not.
    while (k < taps.count) {
      float& last = taps.weights[(k - 1) * taps.positions + o];
      set(taps.indices[(k - 1) * taps.positions + o], last *= 0.5f);
    }
  }
  return taps;
}

}  // namespace ingot::cpu
