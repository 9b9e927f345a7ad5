#pragma once

#include "kernel/loop_nest.h"

namespace ingot::kernel {

// Does what the kernel made from the nest does, element by element with reductions in double: the oracle of
// the emitters.
void interpret(const LoopNest& nest, const KernelCall& call);

}  // namespace ingot::kernel
