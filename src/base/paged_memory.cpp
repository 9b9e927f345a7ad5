#include "base/paged_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file_descriptor.h"
#include "base/os_error.h"

namespace ingot {
namespace {

constexpr std::string_view kObject = "weights on disk";

UniqueFd open_nameless(const std::string& folder) {
  UniqueFd file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  std::string name = folder + "/ingot-weights-XXXXXX";  // for file systems without O_TMPFILE
  UniqueFd named(mkostemp(name.data(), O_CLOEXEC));
  if (!named) throw_os_error(errno, kObject, folder, "make a file in");
  unlink(name.c_str());
  return named;
}

void advise(std::span<const std::byte> bytes, int advice) noexcept {
  if (bytes.empty()) return;
  const size_t into_page = reinterpret_cast<uintptr_t>(bytes.data()) % static_cast<size_t>(getpagesize());
  madvise(const_cast<std::byte*>(bytes.data()) - into_page, bytes.size() + into_page, advice);
}

}  // namespace

std::shared_ptr<std::byte> allocate_paged(const std::string& folder, size_t bytes) {
  const UniqueFd file = open_nameless(folder);
  // Room is taken now: writing to a page without any would end the process.
  if (const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)); error != 0)
    throw_os_error(error, kObject, folder, "make room in");
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) throw_os_error(errno, kObject, folder, "map a file in");
  return {static_cast<std::byte*>(memory), [bytes](std::byte* p) { munmap(p, bytes); }};
}

void drop_pages(std::span<const std::byte> bytes) noexcept { advise(bytes, MADV_DONTNEED); }
void prefetch_pages(std::span<const std::byte> bytes) noexcept { advise(bytes, MADV_WILLNEED); }

}  // namespace ingot
