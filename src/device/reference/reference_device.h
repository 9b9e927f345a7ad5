#pragma once

#include "device/device.h"

namespace ingot::reference {

// Runs every op of every legal type on the calling thread, in plain portable C++. Denormal numbers are kept:
// the flush-to-zero modes of the processor are neither set nor cleared. Outputs are computed first and then
// copied into memory the caller has bound.
const Device& device();

}  // namespace ingot::reference
