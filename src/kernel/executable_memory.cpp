#include "kernel/executable_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/os_error.h"

namespace ingot::kernel {

std::shared_ptr<const ExecutableMemory> ExecutableMemory::copy(std::span<const std::byte> code) {
  void* address = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw_os_error(errno, "kernel code", "memory", "map");
  std::shared_ptr<const ExecutableMemory> memory(
      new ExecutableMemory({static_cast<const std::byte*>(address), code.size()}));
  std::memcpy(address, code.data(), code.size());
  if (mprotect(address, code.size(), PROT_READ | PROT_EXEC) != 0)
    throw_os_error(errno, "kernel code", "memory", "make it executable");
  return memory;
}

ExecutableMemory::~ExecutableMemory() { munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

}  // namespace ingot::kernel
