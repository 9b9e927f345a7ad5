#pragma once

#include "device/cpu/block_weights.h"

namespace ingot::cpu {

// Rows of x times packed weights.
struct BlockProduct {
  static constexpr int64_t kMostRows = 128;  // their sums stay near while a panel is read

  BlockLayout layout;
  const std::byte* weights = nullptr;
  const float* x = nullptr;  // rows without gaps
  float* out = nullptr;      // rows without gaps
  int64_t rows = 0;          // more than kMostRows gain nothing

  // Floats of scratch: what prepare_rows makes of x for all panels, and what one thread needs besides.
  int64_t shared_floats() const;
  int64_t thread_floats() const;
};

// Fills the shared part; before any panel.
void prepare_rows(const BlockProduct& product, float* shared);
// The columns of panels [begin, end). Neither depends on how the panels are shared out.
void multiply_panels(const BlockProduct& product, const float* shared, float* own, int64_t begin,
                     int64_t end);

}  // namespace ingot::cpu
