#pragma once

#include "base/thread_pool.h"
#include "ingot/execution_profile.h"
#include "kernel/target.h"

namespace ingot::cpu {

// What the threads of a pool reach together, measured now: multiply-adds on registers of this level, and
// reading memory that no cache holds. Takes up to 0.6 s and 64 MiB of memory a thread.
MachineSpeed measure_machine_speed(const kernel::Target& target, ThreadPool& pool);

}  // namespace ingot::cpu
