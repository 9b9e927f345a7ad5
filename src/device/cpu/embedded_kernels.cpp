#include "device/cpu/embedded_kernels.h"

// From the image that the build embeds, where it does.
extern "C" {
extern const std::byte ingot_embedded_kernels[] __attribute__((weak, visibility("hidden")));
extern const std::byte ingot_embedded_kernels_end[] __attribute__((weak, visibility("hidden")));
}

namespace ingot::cpu {

const kernel::KernelImage* embedded_kernels() {
  static const std::optional<kernel::KernelImage> image =
      ingot_embedded_kernels ? kernel::KernelImage::open({ingot_embedded_kernels, ingot_embedded_kernels_end})
                             : std::nullopt;
  return image ? &*image : nullptr;
}

}  // namespace ingot::cpu
