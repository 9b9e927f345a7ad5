#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/philox.h"

namespace ingot::devices {

// A stream of numbers that is the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}

  uint64_t seed() const { return seed_; }
  uint64_t bits() {
    const auto words = philox(seed_, count_++);
    return uint64_t{words[0]} << 32 | words[1];
  }
  int64_t below(int64_t end) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(end)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }  // both included
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  bool chance(double probability) { return real(0, 1) < probability; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

 private:
  uint64_t seed_;
  uint64_t count_ = 0;
};

// FNV-1a: a seed for each name.
constexpr uint64_t seed_of(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace ingot::devices
