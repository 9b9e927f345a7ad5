#pragma once

#include "kernel/compiler.h"

namespace ingot::kernel {

const Compiler& llvm_compiler();

}  // namespace ingot::kernel
