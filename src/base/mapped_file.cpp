#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/checked.h"
#include "base/file_descriptor.h"
#include "base/os_error.h"
#include "ingot/error.h"

namespace ingot {
namespace {

int madvise_flag(Advice advice) {
  switch (advice) {
    case Advice::normal: return MADV_NORMAL;
    case Advice::sequential: return MADV_SEQUENTIAL;
    case Advice::random: return MADV_RANDOM;
    case Advice::will_need: return MADV_WILLNEED;
    case Advice::drop: return MADV_DONTNEED;
  }
  return MADV_NORMAL;
}

size_t checked_size(const UniqueFd& fd, const std::string& path, std::string_view object) {
  struct stat info;
  if (fstat(fd.get(), &info) != 0) throw_os_error(errno, object, path, "read its size");
  require_regular(info.st_mode, object, path);
  if (info.st_size == 0) {
    throw Error({.code = ErrorCode::corrupt,
                 .object = std::string(object),
                 .name = path,
                 .expected = "content",
                 .observed = "an empty file",
                 .remedy = "Make or download it again."});
  }
  return checked_cast<size_t>(info.st_size, object);
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path, std::string_view object) {
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw_os_error(errno, object, path, "open");
  size_t size = checked_size(fd, path, object);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) throw_os_error(errno, object, path, "map");
  return std::shared_ptr<const MappedFile>(new MappedFile(path, {static_cast<std::byte*>(address), size}));
}

MappedFile::MappedFile(std::string path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes) {}

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

void MappedFile::advise(Advice advice, size_t offset, size_t length) const noexcept {
  offset = std::min(offset, size());
  length = std::min(length, size() - offset);
  if (length == 0) return;
  size_t into_page = offset % static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* start = const_cast<std::byte*>(bytes_.data()) + offset - into_page;
  madvise(start, length + into_page, madvise_flag(advice));
}

void MappedFile::drop(std::span<const std::byte> view) const noexcept {
  const auto offset = reinterpret_cast<uintptr_t>(view.data()) - reinterpret_cast<uintptr_t>(bytes_.data());
  if (offset < size()) advise(Advice::drop, offset, view.size());  // a view before the file wraps around
}

}  // namespace ingot
