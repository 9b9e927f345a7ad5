#pragma once

#include <cstdint>

namespace ingot {

// Bytes of physical memory that this process could take now without others having to give theirs up: what the
// system calls available, within the limits of its control group. UINT64_MAX where the system does not tell.
uint64_t available_memory();

}  // namespace ingot
