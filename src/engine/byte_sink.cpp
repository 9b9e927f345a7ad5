#include "engine/byte_sink.h"

#include "base/checked.h"
#include "ingot/error.h"

namespace ingot {

void MemorySink::append(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void MemorySink::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  if (!range_fits(offset, bytes.size(), bytes_.size()))
    throw Error({.code = ErrorCode::internal,
                 .object = "engine in memory",
                 .expected = fmt::format("a write inside its {} bytes", bytes_.size()),
                 .observed = fmt::format("{} bytes at {}", bytes.size(), offset)});
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace ingot
