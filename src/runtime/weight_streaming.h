#pragma once

#include <cstdint>

namespace ingot {

// Of `streamable` bytes of weights, those that may stay where so many are available; a context and its
// streamed weights need `others`.
uint64_t automatic_budget(uint64_t streamable, uint64_t available, uint64_t others);

}  // namespace ingot
