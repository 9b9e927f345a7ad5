#pragma once

#include <cstdint>

#include "kernel/compiler.h"

namespace ingot::kernel {

// Of everything in a source, real numbers by their bits: to find equal ones in a process without writing the
// text that kernel_key() needs. Two sources with one hash that compare equal are one kernel.
uint64_t hash_of(const KernelSource& source);

}  // namespace ingot::kernel
