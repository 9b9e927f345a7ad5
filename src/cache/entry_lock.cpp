#include "cache/entry_lock.h"

#include <unistd.h>

namespace ingot {

std::optional<EntryLock> EntryLock::try_lock(const std::string& path) {
  if (auto lock = FileLock::try_lock(path)) return EntryLock(path, std::move(*lock));
  return std::nullopt;
}

EntryLock EntryLock::wait(const std::string& path, std::chrono::milliseconds time) {
  return {path, FileLock::lock(path, time)};
}

// While it is still locked: those who wait for this file notice, and lock the next one.
EntryLock::~EntryLock() {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace ingot
