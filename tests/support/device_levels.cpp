#include "support/device_levels.h"

#include <algorithm>
#include <stdexcept>

#include "kernel/target.h"

namespace ingot {

RuntimeConfig DeviceLevel::config() const {
  RuntimeConfig config;
  config.device = device;
  config.isa = isa;
  return config;
}

std::vector<DeviceLevel> device_levels() {
  std::vector<DeviceLevel> levels;
  for (const std::string& device : Runtime::devices()) levels.push_back({device, device, ""});
  const auto highest = static_cast<int>(kernel::detect_isa_level().value_or(kernel::IsaLevel::avx2));
  for (int level = highest - 1; level >= 0; --level) {
    const std::string isa(to_string(static_cast<kernel::IsaLevel>(level)));
    std::string name = "cpu_" + isa;
    std::ranges::replace(name, '-', '_');
    levels.push_back({std::move(name), "cpu", isa});
  }
  return levels;
}

std::vector<std::string> device_level_names() {
  std::vector<std::string> names;
  for (const DeviceLevel& level : device_levels()) names.push_back(level.name);
  return names;
}

DeviceLevel device_level(const std::string& name) {
  for (DeviceLevel& level : device_levels())
    if (level.name == name) return level;
  throw std::invalid_argument("no device " + name);
}

}  // namespace ingot
