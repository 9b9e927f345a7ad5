#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>

#include "base/resident_memory.h"

namespace ingot {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsSanitized = true;  // and what the process holds is mostly the sanitizer's
#else
inline constexpr bool kMemoryIsSanitized = false;
#endif

// How much more physical memory the process held at most during a call than before it; none where the system
// does not tell.
template <class Call>
std::optional<uint64_t> peak_of(const Call& call) {
  std::ofstream forget("/proc/self/clear_refs");
  forget << "5" << std::flush;
  const bool is_forgotten = forget.good();
  const uint64_t before = resident_memory().now;
  call();
  const uint64_t peak = resident_memory().peak;
  if (!is_forgotten || kMemoryIsSanitized) return std::nullopt;
  return peak - std::min(peak, before);
}

}  // namespace ingot
