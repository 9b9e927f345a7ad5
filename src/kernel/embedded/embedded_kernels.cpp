#include "kernel/embedded/embedded_kernels.h"

// From the image that the build embeds, where it does.
extern "C" {  // NOLINTBEGIN(readability-identifier-naming): symbols of image.cpp
extern const std::byte ingot_embedded_kernels[] __attribute__((weak, visibility("hidden")));
extern const std::byte ingot_embedded_kernels_end[] __attribute__((weak, visibility("hidden")));
}  // NOLINTEND(readability-identifier-naming)

namespace ingot::kernel {

const KernelImage* embedded_kernels() {
  static const std::optional<KernelImage> image =
      ingot_embedded_kernels ? KernelImage::open({ingot_embedded_kernels, ingot_embedded_kernels_end})
                             : std::nullopt;
  return image ? &*image : nullptr;
}

}  // namespace ingot::kernel
