#include "base/available_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace ingot {
namespace {

constexpr uint64_t kUnknown = UINT64_MAX;

uint64_t available_to_system() {
  std::ifstream file("/proc/meminfo");
  uint64_t kilobytes = 0;
  for (std::string key, unit; file >> key >> kilobytes; std::getline(file, unit))
    if (key == "MemAvailable:") return kilobytes * 1024;
  return kUnknown;
}

// "max" is no number.
uint64_t read_number(const char* path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : kUnknown;
}

uint64_t available_to_group() {
  const uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
  const uint64_t used = read_number("/sys/fs/cgroup/memory.current");
  return limit == kUnknown || used == kUnknown ? kUnknown : limit - std::min(limit, used);
}

}  // namespace

uint64_t available_memory() { return std::min(available_to_system(), available_to_group()); }

}  // namespace ingot
