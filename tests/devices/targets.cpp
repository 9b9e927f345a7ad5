#include "tests/devices/targets.h"

#include "runtime/devices.h"

namespace ingot::devices {

std::vector<Target> targets() {
  std::vector<Target> found;
  CompileOptions options;
  options.threads = 2;
  for (const std::string& name : device_names())
    if (name != "reference" || device_names().size() == 1)
      found.push_back({name, &find_device(name), options});
  return found;
}

std::vector<Target> targets_at_every_level() { return targets(); }

}  // namespace ingot::devices
