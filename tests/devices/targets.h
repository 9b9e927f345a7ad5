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
};

// Every device of this build but the oracle; the reference device itself where there is no other, so that the
// suite never runs empty. At most two threads, so that work is split.
std::vector<Target> targets();
// The same at every instruction-set level that this machine has; the highest first.
std::vector<Target> targets_at_every_level();

}  // namespace ingot::devices
