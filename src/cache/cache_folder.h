#pragma once

#include <sys/stat.h>

#include <functional>
#include <mutex>
#include <vector>

#include "base/atomic_file.h"
#include "cache/cache_entry.h"
#include "cache/cache_stats.h"
#include "ingot/logger.h"

namespace ingot {

// Whom the files of a cache may belong to.
enum class CacheTrust {
  own,     // the user alone: whoever writes there decides what code runs
  shipped  // or root, who installs applications and what they bring
};

// What lies in a folder or file, for people.
struct CacheListing {
  std::string key;
  EntryInfo info;
  uint64_t bytes = 0;
  int64_t used_seconds = 0;  // when it was last of use, since 1970
  std::string fault;         // what is wrong with it; empty: nothing
};

// Kernels and the bytes they take.
struct CacheSize {
  uint64_t entries = 0;
  uint64_t bytes = 0;
};

// Files in a folder that is private to the user: one layer of a Cache, which says what callers may expect.
// Thread-safe, and any number of processes may use one folder.
class CacheFolder {
 public:
  // What it meets is counted in `counters` and logged; both outlive it.
  CacheFolder(std::string folder, CacheTrust trust, uint64_t limit_bytes, const Diagnostics& diagnostics,
              CacheCounters& counters);

  const std::string& path() const { return folder_; }

  // Null where there is none.
  std::shared_ptr<const CacheEntry> find(std::string_view key);
  bool contains(std::string_view key) const;
  bool put(std::string_view key, const EntryInfo& info, std::span<const std::byte> checked,
           const std::function<void(AtomicFile& file)>& rest);
  void drop_damaged(std::string_view key, std::string_view what);
  // The name of the lock for those who make this entry; empty where the folder cannot be used.
  std::string lock_path(std::string_view key);

  // All of it, every checked part read. Damaged entries stay and are not counted.
  std::vector<CacheListing> list() const;
  CacheSize size() const;  // of the kernels, unread

 private:
  bool is_private();
  void make_folder() const;
  std::shared_ptr<const CacheEntry> open(const std::string& path, std::string_view key);
  void refuse(const std::string& path, const std::string& why);
  void keep_within_limit(uint64_t added);
  std::string path_of(std::string_view key) const;

  const std::string folder_;
  const CacheTrust trust_;
  const uint64_t limit_bytes_;
  const Diagnostics& diagnostics_;
  CacheCounters& counters_;
  std::atomic<bool> said_refused_ = false;
  std::atomic<bool> said_write_failure_ = false;
  std::mutex eviction_;
  uint64_t known_bytes_ =
      ~uint64_t{0};  // in the folder, as far as this process knows; all ones: not counted yet
};

// Why a file or folder is not to be trusted, or empty; `info` is what fstat() gave for it.
std::string distrust_of(const struct stat& info, CacheTrust trust);

}  // namespace ingot
