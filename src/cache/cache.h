#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "ingot/logger.h"

namespace ingot {

struct CacheStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t damaged = 0;  // entries dropped: cut short, changed, or of another format
  uint64_t refused = 0;  // entries and folders that others own or may write to
  uint64_t written = 0;
  uint64_t write_failures = 0;
  uint64_t evicted = 0;
};

// An entry, mapped read-only and checked. Stays valid when the file is replaced or evicted.
class CacheEntry {
 public:
  ~CacheEntry();
  CacheEntry(const CacheEntry&) = delete;
  CacheEntry& operator=(const CacheEntry&) = delete;

  // At a multiple of 64 bytes.
  std::span<const std::byte> payload() const { return payload_; }
  // Makes the mapping executable; false where the system forbids it for this file system.
  bool make_executable() const;

 private:
  friend class Cache;
  explicit CacheEntry(std::span<const std::byte> file) : file_(file) {}

  std::span<const std::byte> file_;
  std::span<const std::byte> payload_;
};

// Files in a folder that is private to the user. Nothing that is wrong with the folder or a file in it is an
// error of the caller: an entry is then absent or not written, a counter says so, and the log says it once.
// Thread-safe, and any number of processes may use one folder.
class Cache {
 public:
  static constexpr uint64_t kDefaultLimit = uint64_t{8} << 30;

  // An empty path caches nothing. The folder is made by the first write.
  explicit Cache(std::string folder, Diagnostics diagnostics = {}, uint64_t limit_bytes = kDefaultLimit);

  // $INGOT_CACHE (empty for none), else $XDG_CACHE_HOME/ingot, else ~/.cache/ingot; empty where none is set.
  static std::string default_folder();

  const std::string& folder() const { return folder_; }

  // Null where there is none. Keys are file names: letters, digits, '-' and '.'.
  std::shared_ptr<const CacheEntry> find(std::string_view key);

  // `checked` and what `rest` appends become the payload; find() compares the SHA-256 of `checked` alone, so
  // that a large rest costs no start-up time. Whoever uses the rest checks it as needed.
  bool put(std::string_view key, std::span<const std::byte> checked,
           const std::function<void(AtomicFile& file)>& rest = {});
  // Bytes of a file before its payload: for those who align pieces of the rest in the file.
  static constexpr uint64_t kHeaderBytes = 128;

  // What is wrong with an entry that find() gave: it is gone afterwards.
  void drop_damaged(std::string_view key, std::string_view what);

  CacheStats stats() const;

 private:
  struct Counters {
    std::atomic<uint64_t> hits = 0, misses = 0, damaged = 0, refused = 0, written = 0, write_failures = 0,
                          evicted = 0;
  };

  bool folder_is_private();
  void make_folder() const;
  std::shared_ptr<const CacheEntry> open(const std::string& path, std::string_view key);
  void refuse(const std::string& path, const std::string& why);
  void keep_within_limit(uint64_t added);
  void warn_once(std::atomic<bool>& said, const std::string& message);
  std::string path_of(std::string_view key) const;

  std::string folder_;
  Diagnostics diagnostics_;
  uint64_t limit_bytes_;
  Counters counters_;
  std::atomic<bool> said_refused_ = false;
  std::atomic<bool> said_write_failure_ = false;
  std::mutex eviction_;
  uint64_t known_bytes_ =
      ~uint64_t{0};  // in the folder, as far as this process knows; all ones: not counted yet
};

}  // namespace ingot
