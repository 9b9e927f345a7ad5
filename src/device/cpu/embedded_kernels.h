#pragma once

#include "kernel/kernel_image.h"

namespace ingot::cpu {

// The kernels that were made when Ingot was built; null in programs that do not have them.
const kernel::KernelImage* embedded_kernels();

}  // namespace ingot::cpu
