#pragma once

#include "device/device.h"
#include "ingot/runtime.h"

namespace ingot {

// Throws Error(invalid_argument) for what no device can do.
void check_settings(const RuntimeConfig& config);

// What is set in the configuration although the device has no use for it.
std::vector<IgnoredSetting> find_ignored(const RuntimeConfig& config, const Device& device);

}  // namespace ingot
