#pragma once

#include "kernel/kernel_image.h"

namespace ingot::kernel {

// The kernels that were made when Ingot was built; null in programs that do not have them.
const KernelImage* embedded_kernels();

}  // namespace ingot::kernel
