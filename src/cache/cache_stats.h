#pragma once

#include <atomic>
#include <cstdint>

namespace ingot {

struct CacheStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t damaged = 0;       // entries dropped: cut short, changed, or of another key
  uint64_t refused = 0;       // entries and folders that others own or may write to
  uint64_t outdated = 0;      // of another version of Ingot
  uint64_t other_device = 0;  // for what this machine is not
  uint64_t written = 0;
  uint64_t write_failures = 0;
  uint64_t evicted = 0;
  uint64_t lock_timeouts = 0;       // another process seemed to make an entry, for too long
  uint64_t made_microseconds = 0;   // what the entries written took to make
  uint64_t saved_microseconds = 0;  // what the entries found once took to make
};

// The same while threads count.
struct CacheCounters {
  std::atomic<uint64_t> hits = 0, misses = 0, damaged = 0, refused = 0, outdated = 0, other_device = 0,
                        written = 0, write_failures = 0, evicted = 0, lock_timeouts = 0,
                        made_microseconds = 0, saved_microseconds = 0;

  CacheStats values() const {
    return {hits,    misses,         damaged, refused,       outdated,          other_device,
            written, write_failures, evicted, lock_timeouts, made_microseconds, saved_microseconds};
  }
};

}  // namespace ingot
