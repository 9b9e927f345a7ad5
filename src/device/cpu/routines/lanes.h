#pragma once

#include <cstdint>

#include "device/cpu/routines/simd.h"

// Sixteen floats side by side: one to four registers, by instruction set.
namespace ingot::cpu {

using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));
inline constexpr int64_t kLanes = 16;

INGOT_INLINE const Lanes& lanes(const float* p) { return *reinterpret_cast<const Lanes*>(p); }
INGOT_INLINE Lanes& lanes(float* p) { return *reinterpret_cast<Lanes*>(p); }

}  // namespace ingot::cpu
