#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/os_error.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr size_t kBufferSize = 1 << 20;

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Short, so that it fits wherever the final name fits; the process and a counter keep it unique on one
// machine, and O_EXCL or link() notice a clash with another machine on a shared disk.
std::string new_temporary_name(const std::string& folder) {
  static std::atomic<uint64_t> counter = 0;
  return fmt::format("{}/{}{}-{}.tmp", folder, AtomicFile::kTemporaryPrefix, getpid(), counter++);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::string_view object, Temporary temporary, mode_t mode)
    : path_(std::move(path)), object_(object), folder_(folder_of(path_)), mode_(mode) {
  if (path_.empty() || path_.back() == '/') fail(EISDIR, "create it");
  struct stat info;
  if (lstat(path_.c_str(), &info) == 0 && !S_ISLNK(info.st_mode))
    require_regular(info.st_mode, object_, path_);
  open_temporary(temporary);
  buffer_.reserve(kBufferSize);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::remove_abandoned(const std::string& folder) noexcept try {
  namespace fs = std::filesystem;
  std::error_code error;  // what cannot be read or deleted is left to others
  for (fs::directory_iterator file(folder, error), end; file != end && !error; file.increment(error)) {
    if (!file->path().filename().string().starts_with(kTemporaryPrefix)) continue;
    std::error_code unknown;
    const fs::file_time_type written = file->last_write_time(unknown);
    const bool abandoned = !unknown && file->symlink_status(unknown).type() == fs::file_type::regular &&
                           fs::file_time_type::clock::now() - written >= kAbandonedAfter;
    if (abandoned) fs::remove(file->path(), unknown);
  }
} catch (const std::exception&) {  // out of memory
}

void AtomicFile::open_temporary(Temporary temporary) {
  if (temporary == Temporary::nameless) {
    fd_ = UniqueFd(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode_));
    if (fd_) return;
    // Old kernels answer EISDIR, file systems without nameless files EOPNOTSUPP.
    if (errno != EISDIR && errno != EOPNOTSUPP) fail(errno, "create a temporary next to it");
  }
  do {
    temporary_ = new_temporary_name(folder_);
    fd_ = UniqueFd(::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode_));
  } while (!fd_ && errno == EEXIST);
  if (fd_) return;
  temporary_.clear();
  fail(errno, "create a temporary next to it");
}

void AtomicFile::append(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferSize) flush();
  if (bytes.size() < kBufferSize) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return;
  }
  write_all(written_, bytes);
  written_ += bytes.size();
}

void AtomicFile::append(std::string_view text) { append(bytes_of(text)); }

void AtomicFile::append_zeros(uint64_t count) {
  const std::vector<std::byte> zeros(std::min<uint64_t>(count, kBufferSize));
  for (; count > 0; count -= std::min<uint64_t>(count, zeros.size())) {
    append(std::span(zeros).first(std::min<uint64_t>(count, zeros.size())));
  }
}

void AtomicFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  if (!range_fits(offset, bytes.size(), size())) {
    throw Error({.code = ErrorCode::internal,
                 .object = object_,
                 .name = path_,
                 .expected = fmt::format("a write inside the {} bytes appended", size()),
                 .observed = fmt::format("{} bytes at {}", bytes.size(), offset)});
  }
  flush();
  write_all(offset, bytes);
}

void AtomicFile::flush() {
  write_all(written_, buffer_);
  written_ += buffer_.size();
  buffer_.clear();
}

void AtomicFile::write_all(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t n = pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(n < 0 ? errno : ENOSPC, "write");
    offset += static_cast<uint64_t>(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void AtomicFile::name_temporary() {
  if (!temporary_.empty()) return;
  std::string source = fmt::format("/proc/self/fd/{}", fd_.get());
  std::string name;
  int result;
  do {
    name = new_temporary_name(folder_);
    result = linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
  } while (result != 0 && errno == EEXIST);
  if (result != 0) fail(errno, "name the temporary next to it");
  temporary_ = name;
}

void AtomicFile::commit(Durability durability) {
  flush();
  const bool sync = durability == Durability::synced;
  if (sync && fsync(fd_.get()) != 0) fail(errno, "write");
  name_temporary();
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno, "rename the temporary to it");
  temporary_.clear();
  fd_.reset();
  if (!sync) return;
  UniqueFd folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || fsync(folder.get()) != 0) fail(errno, "sync its folder");
}

void AtomicFile::fail(int error_number, std::string_view action) const {
  throw_os_error(error_number, object_, path_, action);
}

}  // namespace ingot
