#include "runtime/devices.h"

#include "device/cpu/cpu_device.h"
#include "device/reference/reference_device.h"
#include "ingot/error.h"

namespace ingot {
namespace {

// The list of devices, the most preferred first.
std::vector<const Device*> all_devices() { return {&cpu::device(), &reference::device()}; }

}  // namespace

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Device* device : all_devices()) names.emplace_back(device->name());
  return names;
}

const Device& find_device(const std::string& name) {
  for (const Device* device : all_devices())
    if (device->name() == name) return *device;
  throw Error({.code = ErrorCode::not_found,
               .object = "device",
               .name = name,
               .expected = fmt::format("one of {}", fmt::join(device_names(), ", ")),
               .remedy = "Choose a device of this build."});
}

}  // namespace ingot
