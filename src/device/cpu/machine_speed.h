#pragma once

#include "base/thread_pool.h"
#include "ingot/execution_profile.h"
#include "kernel/target.h"

namespace ingot::cpu {

// What the threads of a pool reach together, measured now: f32 multiply-adds on registers of this level, and
// reading memory that no cache holds. Takes about 0.1 s, most of it to get 128 MiB of memory.
MachineSpeed measure_machine_speed(const kernel::Target& target, ThreadPool& pool);

}  // namespace ingot::cpu
