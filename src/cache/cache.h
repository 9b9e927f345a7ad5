#pragma once

#include <chrono>
#include <optional>

#include "cache/cache_folder.h"
#include "cache/cache_memory.h"
#include "cache/container.h"
#include "cache/entry_lock.h"

namespace ingot {

struct CacheConfig {
  static constexpr uint64_t kDefaultLimit = uint64_t{8} << 30;

  std::string folder = {};              // empty: none; made by the first write
  bool memory = false;                  // keeps kernels in memory too, also those found elsewhere
  std::vector<std::string> seeds = {};  // folders and container files that are only read
  uint64_t folder_limit_bytes = kDefaultLimit;
  uint64_t memory_limit_bytes = kDefaultLimit;
  // For another process that makes the same entry.
  std::chrono::milliseconds lock_wait{10000};
  Diagnostics diagnostics = {};
};

// What was made once, by name, in layers: memory and a folder that are written, seeds that are not. Nothing
// that is wrong with a layer or an entry is an error of the caller: an entry is then absent or not written, a
// counter says so, and the log says it once. Thread-safe, and any number of processes may use one folder.
class Cache {
 public:
  static constexpr uint64_t kDefaultLimit = CacheConfig::kDefaultLimit;

  explicit Cache(CacheConfig config);
  // A folder alone; an empty path caches nothing.
  explicit Cache(std::string folder, Diagnostics diagnostics = {}, uint64_t limit_bytes = kDefaultLimit);

  // $INGOT_CACHE (empty for none), else $XDG_CACHE_HOME/ingot, else ~/.cache/ingot; empty where none is set.
  static std::string default_folder();

  const std::string& folder() const { return config_.folder; }

  // Null where there is none. `counted` as hit or miss.
  std::shared_ptr<const CacheEntry> find(std::string_view key, bool counted = true);

  // `checked` and what `rest` appends become the payload; find() compares the SHA-256 of `checked` alone, so
  // that a large rest costs no start-up time. Whoever uses the rest checks it as needed.
  bool put(std::string_view key, const EntryInfo& info, std::span<const std::byte> checked,
           const std::function<void(AtomicFile& file)>& rest = {});
  // The same for an entry that came from elsewhere, where the written layers lack it; false where they do
  // not.
  bool keep(const NamedEntry& named);
  bool lacks(std::string_view key) const;  // whether keep() would write it
  bool keeps_in_memory() const { return config_.memory; }
  // Bytes of a file before its payload: for those who align pieces of the rest in the file.
  static constexpr uint64_t kHeaderBytes = 256;

  // What is wrong with an entry that find() gave: it is gone afterwards.
  void drop_damaged(std::string_view key, std::string_view what);

  // Whether it is this caller's turn to make an entry, which then looks for it once more. Others, of any
  // process, are not given the turn while `lock` lives.
  struct Turn {
    bool mine = true;
    std::optional<EntryLock> lock = {};
  };
  Turn try_turn(std::string_view key);
  // Waits for it, but not for ever: then several make the entry, and a counter says so.
  Turn wait_turn(std::string_view key);

  // All kernels of the memory, else of the folder.
  std::vector<NamedEntry> kernels();
  CacheSize size() const;  // of these
  void clear_memory() { memory_.clear(); }

  CacheStats stats() const { return counters_.values(); }
  CacheCounters& counters() { return counters_; }
  const CacheConfig& config() const { return config_; }

 private:
  void open_seed(const std::string& path);
  std::shared_ptr<const CacheEntry> look_up(std::string_view key);
  bool put_in_memory(std::string_view key, const EntryInfo& info, std::span<const std::byte> payload);
  std::string lock_path(std::string_view key);
  bool folder_lacks(std::string_view key) const;  // and no seed has it

  const CacheConfig config_;
  CacheCounters counters_;
  CacheMemory memory_;
  std::unique_ptr<CacheFolder> folder_;  // null: none
  std::vector<std::unique_ptr<CacheFolder>> seed_folders_;
  CacheMemory seeded_{~uint64_t{0}};  // from container files
};

}  // namespace ingot
