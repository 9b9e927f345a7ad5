#include "cache/cache_entry.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace ingot {
namespace {

constexpr std::string_view kKernelPrefix = "kernel-";
constexpr size_t kMaxKeyBytes = 95;
constexpr size_t kFewBytes = 1 << 16;
constexpr std::align_val_t kAlignment{64};

bool may_be_in_key(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
}

}  // namespace

StoredInfo to_stored(const EntryInfo& info) {
  StoredInfo stored = {};
  info.target.copy(stored.target, sizeof(stored.target) - 1);
  stored.generator = info.generator;
  stored.engine = info.engine;
  stored.make_microseconds = info.make_microseconds;
  return stored;
}

EntryInfo from_stored(const StoredInfo& info) {
  return {.target = std::string(info.target, strnlen(info.target, sizeof(info.target))),
          .generator = info.generator,
          .engine = info.engine,
          .make_microseconds = info.make_microseconds};
}

bool is_cache_key(std::string_view key) {
  return !key.empty() && key.size() <= kMaxKeyBytes && key[0] != '.' &&
         std::ranges::all_of(key, may_be_in_key);
}

bool is_kernel_key(std::string_view key) { return key.starts_with(kKernelPrefix); }

std::string kernel_entry_key(std::string_view kernel_key) {
  return std::string(kKernelPrefix) + std::string(kernel_key);
}

std::shared_ptr<const Mapping> Mapping::of_file(int fd, size_t bytes) {
  void* address = bytes == 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return nullptr;
  return std::shared_ptr<const Mapping>(
      new Mapping({static_cast<const std::byte*>(address), bytes}, true, true));
}

template <class Fill>
std::shared_ptr<const Mapping> Mapping::make(size_t bytes, const Fill& fill) {
  const bool has_pages = bytes >= kFewBytes;
  void* address = has_pages ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                            : ::operator new(std::max<size_t>(1, bytes), kAlignment, std::nothrow);
  if (address == MAP_FAILED || !address) return nullptr;
  const std::span memory(static_cast<std::byte*>(address), bytes);
  std::shared_ptr<const Mapping> mapping(new Mapping(memory, has_pages));
  if (!fill(memory)) return nullptr;
  if (has_pages) mprotect(address, bytes, PROT_READ);
  return mapping;
}

std::shared_ptr<const Mapping> Mapping::copy_of(std::span<const std::byte> bytes) {
  return make(bytes.size(), [&](std::span<std::byte> memory) {
    std::ranges::copy(bytes, memory.begin());
    return true;
  });
}

std::shared_ptr<const Mapping> Mapping::read_file(int fd, size_t bytes) {
  return make(bytes, [&](std::span<std::byte> memory) {
    for (size_t done = 0; done < memory.size();) {
      const ssize_t n = pread(fd, memory.data() + done, memory.size() - done, static_cast<off_t>(done));
      if (n <= 0 && !(n < 0 && errno == EINTR)) return false;
      done += static_cast<size_t>(std::max<ssize_t>(0, n));
    }
    return true;
  });
}

Mapping::~Mapping() {
  auto* memory = const_cast<std::byte*>(bytes_.data());
  if (has_pages_)
    munmap(memory, bytes_.size());
  else
    ::operator delete(memory, kAlignment);
}

bool Mapping::make_executable() const {
  return has_pages_ &&
         mprotect(const_cast<std::byte*>(bytes_.data()), bytes_.size(), PROT_READ | PROT_EXEC) == 0;
}

}  // namespace ingot
