#include "tests/devices/targets.h"

#include "kernel/target.h"
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

std::vector<Target> targets_at_every_level() {
  std::vector<Target> found = targets();
  const std::vector<Target> highest = found;
  for (auto level = static_cast<int>(kernel::detect_isa_level().value_or(kernel::IsaLevel::avx2)) - 1;
       level >= 0; --level)
    for (Target target : highest) {
      if (target.name != "cpu") continue;
      target.options.isa = to_string(static_cast<kernel::IsaLevel>(level));
      target.name = fmt::format("{}_{}", target.name, target.options.isa);
      target.share = level == 0 ? 2 : 8;
      found.push_back(std::move(target));
    }
  return found;
}

}  // namespace ingot::devices
