#pragma once

#include <cstddef>
#include <memory>

namespace ingot {

// `size` readable bytes of zeros that take address space, but no memory before they are read. Throws
// Error(out_of_memory).
std::shared_ptr<const std::byte> zero_pages(size_t size);

}  // namespace ingot
