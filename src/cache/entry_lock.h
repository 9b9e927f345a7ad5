#pragma once

#include <optional>
#include <utility>

#include "base/file_lock.h"

namespace ingot {

// A FileLock whose file is there only while somebody has it or waits for it.
class EntryLock {
 public:
  static std::optional<EntryLock> try_lock(const std::string& path);
  // Throws Error(device) when the time has passed.
  static EntryLock wait(const std::string& path, std::chrono::milliseconds time);

  ~EntryLock();
  EntryLock(EntryLock&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  EntryLock& operator=(EntryLock&&) = delete;

 private:
  EntryLock(std::string path, FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;  // empty once it was moved
  FileLock lock_;
};

}  // namespace ingot
