#pragma once

#include <llvm/IR/Module.h>

#include "kernel/loop_nest.h"
#include "kernel/target.h"

namespace ingot::kernel {

// Adds the function `entry` that runs the kernel (KernelFunction or TileFunction) to an empty module.
void emit_nest(llvm::Module& module, const LoopNest& nest, const Target& target);
void emit_tile(llvm::Module& module, const TileKernel& tile, const Target& target);

}  // namespace ingot::kernel
