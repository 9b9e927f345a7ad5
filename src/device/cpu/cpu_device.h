#pragma once

#include "device/device.h"

namespace ingot::cpu {

// Compiles a graph into kernels for the processor it runs on, which must have AVX2, FMA and F16C. Kernels and
// packed weights are kept in the user's cache under CompileOptions::identity.
const Device& device();

}  // namespace ingot::cpu
