#pragma once

#include <string>
#include <vector>

#include "ingot/runtime.h"

namespace ingot {

// A device at one of its instruction-set levels.
struct DeviceLevel {
  std::string name;  // "cpu", "cpu_avx2", "reference": letters, digits and underscores
  std::string device;
  std::string isa;  // empty: the highest that this machine has

  RuntimeConfig config() const;
};

// Every device of this build, and the CPU device at every lower level of this machine too.
std::vector<DeviceLevel> device_levels();
std::vector<std::string> device_level_names();
// What computes products of bytes as AMX does, on machines that lack it; all else is as at the level below.
std::vector<DeviceLevel> emulated_levels();
// Those too, for models that have such products.
std::vector<std::string> byte_level_names();
// The one of that name.
DeviceLevel device_level(const std::string& name);

}  // namespace ingot
