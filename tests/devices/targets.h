#pragma once

#include <string>
#include <vector>

#include "device/device.h"

namespace ingot::devices {

// What a suite runs on: a device as it is compiled for by default.
struct Target {
  std::string name;
  const Device* device;
  CompileOptions options;
  uint64_t share = 1;       // of many cases, one of so many is enough
  bool only_bytes = false;  // cases that multiply bytes are enough
};

// Every device of this build but the oracle. Two threads, so that work is split.
std::vector<Target> targets();
// Those at every lower instruction-set level of this machine too. AVX2 has code of its own nearly everywhere,
// the others differ from each other in few kernels.
std::vector<Target> targets_at_every_level();

}  // namespace ingot::devices
