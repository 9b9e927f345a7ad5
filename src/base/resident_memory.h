#pragma once

#include <cstdint>

namespace ingot {

// Bytes of physical memory that the process holds, now and at most since it started. Zeros where the system
// does not tell.
struct ResidentMemory {
  uint64_t now = 0;
  uint64_t peak = 0;
};

ResidentMemory resident_memory();

}  // namespace ingot
