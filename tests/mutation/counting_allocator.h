#pragma once

#include <cstddef>

namespace ingot {

// Bytes of memory from operator new in this program; the counting replaces the global operators.
struct AllocationCounts {
  size_t live = 0;
  size_t peak = 0;  // highest `live` since reset_peak()
};

AllocationCounts allocation_counts();
void reset_peak();

}  // namespace ingot
