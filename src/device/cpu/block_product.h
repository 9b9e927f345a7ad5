#pragma once

#include "device/cpu/block_weights.h"

namespace ingot::cpu {

// Rows of x times packed weights.
struct BlockProduct {
  BlockLayout layout;
  const std::byte* weights = nullptr;
  const float* x = nullptr;  // rows without gaps
  float* out = nullptr;      // rows without gaps
  int64_t rows = 0;

  // Floats of scratch: sums of x that all panels share, and what one thread needs besides.
  int64_t shared_floats() const;
  int64_t thread_floats() const;
};

// Fills the shared sums; before any panel.
void sum_blocks(const BlockProduct& product, float* shared);
// The columns of panels [begin, end). Neither depends on how the panels are shared out.
void multiply_panels(const BlockProduct& product, const float* shared, float* own, int64_t begin,
                     int64_t end);

}  // namespace ingot::cpu
