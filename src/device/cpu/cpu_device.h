#pragma once

#include <string_view>

#include "device/device.h"

namespace ingot::cpu {

// Compiles a graph into kernels for the processor it runs on, which must have AVX2, FMA and F16C. Kernels and
// packed weights are kept in the user's cache under CompileOptions::identity.
const Device& device();

// For tests: lets the level be kEmulatedTiles, which is amx with its tiles in memory, where there is AVX-512
// VNNI.
inline constexpr std::string_view kEmulatedTiles = "amx-emulated";
void allow_tile_emulation();

}  // namespace ingot::cpu
