#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace ingot::kernel {

// Machine code in memory, page-aligned: executable, and writable no more.
class ExecutableMemory {
 public:
  // Throws Error(out_of_memory), or Error(device) where the system forbids new code.
  static std::shared_ptr<const ExecutableMemory> copy(std::span<const std::byte> code);

  ~ExecutableMemory();
  ExecutableMemory(const ExecutableMemory&) = delete;
  ExecutableMemory& operator=(const ExecutableMemory&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  // Of type Function, at an offset.
  template <class Function>
  Function function(size_t offset = 0) const {
    return reinterpret_cast<Function>(reinterpret_cast<uintptr_t>(bytes_.data() + offset));
  }

 private:
  explicit ExecutableMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace ingot::kernel
