#include "cache/cache_memory.h"

#include <ctime>

namespace ingot {

int64_t seconds_now() { return time(nullptr); }

std::shared_ptr<const CacheEntry> CacheMemory::find(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  found->second->used_seconds = seconds_now();
  return found->second->entry;
}

bool CacheMemory::contains(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  return places_.contains(key);
}

uint64_t CacheMemory::put(NamedEntry entry) {
  const std::lock_guard lock(mutex_);
  if (const auto old = places_.find(entry.key); old != places_.end()) remove(old->second);
  bytes_ += entry.entry->payload().size();
  entries_.push_front(std::move(entry));
  places_[entries_.front().key] = entries_.begin();
  uint64_t evicted = 0;
  for (; bytes_ > limit_bytes_ && !entries_.empty(); ++evicted) remove(std::prev(entries_.end()));
  return evicted;
}

void CacheMemory::erase(std::string_view key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = places_.find(key); found != places_.end()) remove(found->second);
}

void CacheMemory::clear() {
  const std::lock_guard lock(mutex_);
  places_.clear();
  entries_.clear();
  bytes_ = 0;
}

void CacheMemory::remove(List::iterator place) {
  bytes_ -= place->entry->payload().size();
  places_.erase(place->key);
  entries_.erase(place);
}

std::vector<NamedEntry> CacheMemory::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<NamedEntry> result;
  for (const auto& [key, place] : places_) result.push_back(*place);
  return result;
}

}  // namespace ingot
