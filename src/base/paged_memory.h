#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace ingot {

// Memory of whole pages, filled with zeros, behind which a file without a name in `folder` stands: its pages
// may leave physical memory at any time and come back unchanged. Throws device where the disk has no room or
// the system refuses.
std::shared_ptr<std::byte> allocate_paged(const std::string& folder, size_t bytes);

// For memory of allocate_paged() and of files mapped read-only, and no other: frees the physical memory of
// the pages that `bytes` touch, which come back when they are read.
void drop_pages(std::span<const std::byte> bytes) noexcept;
// Starts to bring them back.
void prefetch_pages(std::span<const std::byte> bytes) noexcept;

}  // namespace ingot
