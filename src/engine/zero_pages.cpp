#include "engine/zero_pages.h"

#include <sys/mman.h>

#include "ingot/error.h"

namespace ingot {

std::shared_ptr<const std::byte> zero_pages(size_t size) {
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    throw Error({.code = ErrorCode::out_of_memory,
                 .object = "stripped weights",
                 .expected = fmt::format("{} bytes of address space", size),
                 .observed = "a refused allocation",
                 .remedy = "Raise the limit of address space (ulimit -v)."});
  return {static_cast<const std::byte*>(address),
          [size](const std::byte* p) { munmap(const_cast<std::byte*>(p), size); }};
}

}  // namespace ingot
