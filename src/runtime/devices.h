#pragma once

#include <string>
#include <vector>

#include "device/device.h"

namespace ingot {

std::vector<std::string> device_names();

// Throws Error(not_found) that names the devices of this build.
const Device& find_device(const std::string& name);

}  // namespace ingot
