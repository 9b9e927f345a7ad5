#pragma once

#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "cache/cache_entry.h"

namespace ingot {

// An entry with its name and when it was last of use, in seconds since 1970.
struct NamedEntry {
  std::string key;
  std::shared_ptr<const CacheEntry> entry;
  int64_t used_seconds = 0;
};

// Entries in memory: one layer of a Cache. The least recently used go where they exceed the limit.
// Thread-safe.
class CacheMemory {
 public:
  explicit CacheMemory(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  std::shared_ptr<const CacheEntry> find(std::string_view key);  // null where there is none
  bool contains(std::string_view key) const;
  // Replaces one of that name; returns how many others went.
  uint64_t put(NamedEntry entry);
  void erase(std::string_view key);
  void clear();

  std::vector<NamedEntry> all() const;  // by name

 private:
  using List = std::list<NamedEntry>;

  void remove(List::iterator place);

  const uint64_t limit_bytes_;
  mutable std::mutex mutex_;
  List entries_;  // the most recently used first
  std::map<std::string, List::iterator, std::less<>> places_;
  uint64_t bytes_ = 0;
};

int64_t seconds_now();

}  // namespace ingot
