#include "base/resident_memory.h"

#include <charconv>
#include <fstream>

namespace ingot {
namespace {

// "VmHWM:	  123456 kB"
bool read_kilobytes(const std::string& line, std::string_view key, uint64_t& bytes) {
  if (!line.starts_with(key)) return false;
  size_t digit = line.find_first_of("0123456789");
  if (digit == std::string::npos) return false;
  uint64_t kilobytes = 0;
  std::from_chars(line.data() + digit, line.data() + line.size(), kilobytes);
  bytes = kilobytes * 1024;
  return true;
}

}  // namespace

ResidentMemory resident_memory() {
  ResidentMemory out;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (!read_kilobytes(line, "VmRSS:", out.now)) read_kilobytes(line, "VmHWM:", out.peak);
  return out;
}

}  // namespace ingot
