#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace ingot {

// Throws Error(invalid_argument) unless each is a CPU that the calling thread may run on, named once.
// `object` is what they were given to.
void require_allowed_cpus(std::span<const int> cpus, std::string_view object);

// While it lives, the calling thread runs on these CPUs only, and so do for good the threads that it starts
// meanwhile. None: no change.
class CpuAffinity {
 public:
  explicit CpuAffinity(std::span<const int> cpus);  // throws Error(device) where the system refuses
  ~CpuAffinity();
  CpuAffinity(const CpuAffinity&) = delete;
  CpuAffinity& operator=(const CpuAffinity&) = delete;

 private:
  std::vector<int> before_;  // empty: nothing was changed
};

}  // namespace ingot
