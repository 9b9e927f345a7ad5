#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/file_descriptor.h"

namespace ingot {

// An advisory, exclusive lock between processes and between threads, held on a lock file that it creates
// where missing and leaves in place. The kernel frees the lock when its owner dies, however it dies, so there
// are no stale locks; the owner's process id in the file serves messages only. Not recursive: a second lock
// from the same thread waits like any other. A child made by fork() shares the lock until it executes another
// program or exits.
class FileLock {
 public:
  using Milliseconds = std::chrono::milliseconds;
  // Called when waiting begins and about once a second after, with the owner's process id (0 if not known)
  // and the time waited; false gives up with Error(cancelled).
  using OnWait = std::function<bool(pid_t owner, Milliseconds waited)>;

  // Nothing if another holds it. Throws where the lock file cannot be opened or created.
  static std::optional<FileLock> try_lock(const std::string& path);

  // Waits; throws Error(device) that names the owner when `timeout` has passed.
  static FileLock lock(const std::string& path, Milliseconds timeout, const OnWait& on_wait = {});

  // The process id last recorded in a lock file: the owner, if it is locked. 0 if there is none.
  static pid_t recorded_owner(const std::string& path);

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;  // closing it unlocks
};

}  // namespace ingot
