#include "tests/devices/targets.h"

#include "runtime/devices.h"
#include "support/device_levels.h"

namespace ingot::devices {
namespace {

Target target_of(const DeviceLevel& level) {
  CompileOptions options;
  options.threads = 2;
  options.isa = level.isa;
  const uint64_t share = level.isa.empty() ? 1 : level.isa == "avx2" ? 4 : 16;
  return {level.name, &find_device(level.device), options, share};
}

}  // namespace

std::vector<Target> targets() {
  std::vector<Target> found;
  for (const Target& target : targets_at_every_level())
    if (target.options.isa.empty()) found.push_back(target);
  return found;
}

std::vector<Target> targets_at_every_level() {
  std::vector<Target> found;
  for (const DeviceLevel& level : device_levels())
    if (level.device != "reference") found.push_back(target_of(level));
  for (const DeviceLevel& level : emulated_levels()) {
    found.push_back(target_of(level));
    found.back().share = 1;
    found.back().only_bytes = true;
  }
  return found;
}

}  // namespace ingot::devices
