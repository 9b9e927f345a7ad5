#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <thread>

#include "base/os_error.h"
#include "ingot/error.h"

namespace ingot {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kObject = "lock file";
constexpr std::chrono::milliseconds kLongestPause{50};
constexpr std::chrono::milliseconds kReportEvery{1000};

// False when someone removed or replaced the file between our open and our lock: then we hold a lock nobody
// else sees.
bool still_at(const UniqueFd& fd, const std::string& path) {
  struct stat mine, named;
  if (fstat(fd.get(), &mine) != 0 || stat(path.c_str(), &named) != 0) return false;
  return mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

void record_owner(const UniqueFd& fd, const std::string& path) {
  std::string text = fmt::format("{}\n", getpid());
  if (ftruncate(fd.get(), 0) != 0 || pwrite(fd.get(), text.data(), text.size(), 0) < 0) {
    throw_os_error(errno, kObject, path, "write the owner to it");
  }
}

[[noreturn]] void throw_timeout(const std::string& path, pid_t owner, FileLock::Milliseconds timeout) {
  throw Error({.code = ErrorCode::device,
               .object = std::string(kObject),
               .name = path,
               .expected = fmt::format("it to be free within {} ms", timeout.count()),
               .observed = owner ? fmt::format("it held by process {}", owner) : "it held by another process",
               .remedy = "Wait for that process or stop it, then try again."});
}

}  // namespace

std::optional<FileLock> FileLock::try_lock(const std::string& path) {
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
    if (!fd) throw_os_error(errno, kObject, path, "open");
    struct stat info;
    if (fstat(fd.get(), &info) == 0) require_regular(info.st_mode, kObject, path);
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return std::nullopt;
      if (errno != EINTR) throw_os_error(errno, kObject, path, "lock");
      continue;
    }
    if (!still_at(fd, path)) continue;
    record_owner(fd, path);
    return FileLock(std::move(fd));
  }
}

// Polls: a blocking flock() could be stopped only by a signal, which a library must not take from its
// application.
FileLock FileLock::lock(const std::string& path, Milliseconds timeout, const OnWait& on_wait) {
  const auto start = steady_clock::now();
  Milliseconds pause{1}, next_report{0};
  for (;;) {
    if (auto lock = try_lock(path)) return std::move(*lock);
    auto waited = std::chrono::duration_cast<Milliseconds>(steady_clock::now() - start);
    if (waited >= timeout) throw_timeout(path, recorded_owner(path), timeout);
    if (on_wait && waited >= next_report) {
      next_report = waited + kReportEvery;
      if (!on_wait(recorded_owner(path), waited)) {
        throw Error({.code = ErrorCode::cancelled,
                     .object = std::string(kObject),
                     .name = path,
                     .observed = "cancelled while it waited for the lock"});
      }
    }
    std::this_thread::sleep_for(std::min(pause, timeout - waited));
    pause = std::min(pause * 2, kLongestPause);
  }
}

pid_t FileLock::recorded_owner(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char text[24] = {};
  if (!fd || pread(fd.get(), text, sizeof text - 1, 0) <= 0) return 0;
  return static_cast<pid_t>(strtol(text, nullptr, 10));
}

}  // namespace ingot
