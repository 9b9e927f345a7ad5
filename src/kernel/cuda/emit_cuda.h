#pragma once

#include <string>

#include "kernel/loop_nest.h"

namespace ingot::kernel {

inline constexpr int kCudaThreads = 256;  // per block

// A translation unit with `extern "C" __global__ void entry(const Call)`. Call holds what KernelCall does, by
// value: one pointer per access, the sizes, begin and end. Pointwise nests run on any grid; in reductions a
// block computes one point of the parallel axes after the other. Needs no header, and no scratch: values are
// computed again.
std::string emit_cuda(const LoopNest& nest);

}  // namespace ingot::kernel
