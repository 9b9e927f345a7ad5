#include "runtime/stream_memory.h"

#include <bit>

#include "ingot/error.h"

namespace ingot {
namespace {

// Eight sizes to an octave, so that memory for ever changing sizes is used again and stays bounded.
size_t rounded(size_t bytes) {
  const size_t step = std::max(std::bit_floor(bytes) / 8, StreamMemory::kAlignment);
  return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

}  // namespace

void* StreamMemory::allocate(size_t bytes, uint64_t ended) {
  if (bytes == 0) return nullptr;
  const size_t size = rounded(bytes);
  void* memory = reuse(size);
  if (!memory) memory = reserve(size);
  if (!memory) {
    trim(ended);
    memory = reserve(size);
  }
  if (!memory)
    throw Error({.code = ErrorCode::out_of_memory,
                 .object = "stream",
                 .expected = fmt::format("{} bytes of memory", bytes),
                 .observed = fmt::format("a refused allocation, with {} bytes held", reserved_),
                 .remedy = "Free memory of the stream and trim() it, or use smaller shapes."});
  return memory;
}

void* StreamMemory::reuse(size_t bytes) {
  const auto found = free_.lower_bound(bytes);
  if (found == free_.end() || found->first / 2 > bytes) return nullptr;
  void* memory = found->second;
  free_.erase(found);
  blocks_.at(memory).in_use = true;
  return memory;
}

void* StreamMemory::reserve(size_t bytes) {
  void* memory = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
  if (!memory) return nullptr;
  std::unique_ptr<std::byte, Deleter> owner(static_cast<std::byte*>(memory));
  blocks_.emplace(memory, Block{.memory = std::move(owner), .bytes = bytes, .in_use = true});
  reserved_ += bytes;
  return memory;
}

void StreamMemory::free(void* memory, uint64_t given) {
  const auto found = blocks_.find(memory);
  if (found == blocks_.end() || !found->second.in_use)
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "stream",
                 .expected = "memory that this stream has allocated and not yet taken back",
                 .observed = fmt::format("address {}", memory),
                 .remedy = "Free each allocation once, on the stream that made it."});
  free_.emplace(found->second.bytes, memory);
  found->second.in_use = false;
  found->second.freed_behind = given;
}

void StreamMemory::trim(uint64_t ended) {
  std::erase_if(free_, [&](const auto& entry) {
    const Block& block = blocks_.at(entry.second);
    if (block.freed_behind > ended) return false;
    reserved_ -= block.bytes;
    blocks_.erase(entry.second);
    return true;
  });
}

}  // namespace ingot
