#include "support/device_levels.h"

#include <algorithm>
#include <stdexcept>

#include "device/cpu/cpu_device.h"
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

std::vector<DeviceLevel> emulated_levels() {
  const auto highest = kernel::detect_isa_level();
  if (highest < kernel::IsaLevel::avx512_vnni) return {};
  cpu::allow_tile_emulation();
  return {{"cpu_amx_emulated", "cpu", std::string(cpu::kEmulatedTiles)}};
}

namespace {

std::vector<std::string> names_of(const std::vector<DeviceLevel>& levels) {
  std::vector<std::string> names;
  for (const DeviceLevel& level : levels) names.push_back(level.name);
  return names;
}

std::vector<DeviceLevel> byte_levels() {
  std::vector<DeviceLevel> levels = device_levels();
  for (DeviceLevel& level : emulated_levels()) levels.push_back(std::move(level));
  return levels;
}

}  // namespace

std::vector<std::string> device_level_names() { return names_of(device_levels()); }
std::vector<std::string> byte_level_names() { return names_of(byte_levels()); }

DeviceLevel device_level(const std::string& name) {
  for (DeviceLevel& level : byte_levels())
    if (level.name == name) return level;
  throw std::invalid_argument("no device " + name);
}

}  // namespace ingot
