#pragma once

#include "ir/resize_geometry.h"

namespace ingot::cpu {

// What one axis of a linear or cubic resize blends: output position o is the sum over k of weight[k][o] times
// input position index[k][o]. Every position has `count` taps; one that needs fewer has a tap in several
// equal parts.
struct ResizeTaps {
  int64_t count = 0;
  int64_t positions = 0;
  int32_t* indices = nullptr;  // [count][positions]; -1 in the first row: the extrapolation value
  float* weights = nullptr;    // [count][positions]

  const int32_t* index(int64_t k) const { return indices + k * positions; }
  const float* weight(int64_t k) const { return weights + k * positions; }
  bool is_outside(int64_t o) const { return indices[o] < 0; }
};

// Bytes that the taps of an axis take, whatever the coordinates, and the taps, in as many bytes.
int64_t resize_tap_bytes(const ResizeAttrs& attrs, int64_t in, int64_t out);
ResizeTaps make_resize_taps(const ResizeAttrs& attrs, const ResizeAxis& axis, std::byte* memory);

}  // namespace ingot::cpu
