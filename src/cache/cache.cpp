#include "cache/cache.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "base/stopwatch.h"
#include "ingot/error.h"

namespace ingot {

Cache::Cache(CacheConfig config) : config_(std::move(config)), memory_(config_.memory_limit_bytes) {
  if (!config_.folder.empty())
    folder_ = std::make_unique<CacheFolder>(config_.folder, CacheTrust::own, config_.folder_limit_bytes,
                                            config_.diagnostics, counters_);
  for (const std::string& seed : config_.seeds) open_seed(seed);
}

Cache::Cache(std::string folder, Diagnostics diagnostics, uint64_t limit_bytes)
    : Cache(CacheConfig{.folder = std::move(folder),
                        .folder_limit_bytes = limit_bytes,
                        .diagnostics = std::move(diagnostics)}) {}

std::string Cache::default_folder() {
  if (const char* folder = secure_getenv("INGOT_CACHE")) return folder;
  const char* base = secure_getenv("XDG_CACHE_HOME");
  if (base && *base == '/')
    return std::string(base) + "/ingot";  // others are to be ignored, says its specification
  const char* home = secure_getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/ingot" : "";
}

void Cache::open_seed(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    seed_folders_.push_back(
        std::make_unique<CacheFolder>(path, CacheTrust::shipped, 0, config_.diagnostics, counters_));
    return;
  }
  try {
    ContainerContent content = read_container_file(path, CacheTrust::shipped);
    counters_.damaged += content.damaged;
    for (NamedEntry& entry : content.entries)
      if (!seeded_.contains(entry.key)) seeded_.put(std::move(entry));
  } catch (const Error& refusal) {
    ++counters_.refused;
    config_.diagnostics.log(LogLevel::warning, fmt::format("cache: a seed is not used: {}", refusal.what()));
  }
}

std::shared_ptr<const CacheEntry> Cache::look_up(std::string_view key) {
  if (auto entry = memory_.find(key)) return entry;
  auto entry = folder_ ? folder_->find(key) : nullptr;
  if (!entry) entry = seeded_.find(key);
  for (size_t i = 0; !entry && i < seed_folders_.size(); ++i) entry = seed_folders_[i]->find(key);
  if (entry && is_kernel_key(key)) put_in_memory(key, entry->info(), entry->payload());
  return entry;
}

std::shared_ptr<const CacheEntry> Cache::find(std::string_view key, bool counted) {
  auto entry = look_up(key);
  if (!counted) return entry;
  ++(entry ? counters_.hits : counters_.misses);
  if (entry) counters_.saved_microseconds += entry->info().make_microseconds;
  return entry;
}

bool Cache::put_in_memory(std::string_view key, const EntryInfo& info, std::span<const std::byte> payload) {
  const auto memory = config_.memory ? Mapping::copy_of(payload) : nullptr;
  if (!memory) return false;
  const auto entry = std::make_shared<CacheEntry>(info, memory, memory->bytes());
  counters_.evicted += memory_.put({std::string(key), entry, seconds_now()});
  return true;
}

bool Cache::put(std::string_view key, const EntryInfo& info, std::span<const std::byte> checked,
                const std::function<void(AtomicFile& file)>& rest) {
  bool kept = false;
  if (is_kernel_key(key)) {
    counters_.made_microseconds += info.make_microseconds;
    kept = put_in_memory(key, info, checked);
  }
  if (folder_) kept = folder_->put(key, info, checked, rest) || kept;
  return kept;
}

bool Cache::folder_lacks(std::string_view key) const {
  const auto has = [&](const auto& layer) { return layer->contains(key); };
  return folder_ && !has(folder_) && !seeded_.contains(key) && std::ranges::none_of(seed_folders_, has);
}

bool Cache::lacks(std::string_view key) const {
  return (config_.memory && !memory_.contains(key)) || folder_lacks(key);
}

bool Cache::keep(const NamedEntry& named) {
  bool kept = false;
  if (config_.memory && !memory_.contains(named.key)) {
    counters_.evicted += memory_.put(named);
    kept = true;
  }
  if (folder_lacks(named.key))
    kept = folder_->put(named.key, named.entry->info(), named.entry->payload(), {}) || kept;
  return kept;
}

void Cache::drop_damaged(std::string_view key, std::string_view what) {
  memory_.erase(key);
  seeded_.erase(key);
  if (folder_) folder_->drop_damaged(key, what);
}

std::string Cache::lock_path(std::string_view key) { return folder_ ? folder_->lock_path(key) : ""; }

// Where there can be no locks, everybody has the turn.
Cache::Turn Cache::try_turn(std::string_view key) {
  const std::string path = lock_path(key);
  if (path.empty()) return {};
  try {
    std::optional<EntryLock> lock = EntryLock::try_lock(path);
    const bool mine = lock.has_value();
    return {mine, std::move(lock)};
  } catch (const Error&) {
    return {};
  }
}

Cache::Turn Cache::wait_turn(std::string_view key) {
  const std::string path = lock_path(key);
  if (path.empty()) return {};
  const Stopwatch watch;
  // One that was stuck may hold many.
  const auto wait = counters_.lock_timeouts == 0 ? config_.lock_wait : config_.lock_wait / 10;
  try {
    return {true, EntryLock::wait(path, wait)};
  } catch (const Error& error) {
    const bool timed_out = watch.seconds() >= std::chrono::duration<double>(wait).count();
    if (timed_out && counters_.lock_timeouts++ == 0)
      config_.diagnostics.log(
          LogLevel::warning,
          fmt::format("cache: another process holds a lock too long; its work is done again: {}",
                      error.what()));
    return {};
  }
}

std::vector<NamedEntry> Cache::kernels() {
  if (config_.memory) return memory_.all();
  std::vector<NamedEntry> result;
  if (!folder_) return result;
  for (const CacheListing& listing : folder_->list())
    if (is_kernel_key(listing.key) && is_cache_key(listing.key) && listing.fault.empty())
      if (auto entry = folder_->find(listing.key))
        result.push_back({listing.key, std::move(entry), listing.used_seconds});
  return result;
}

CacheSize Cache::size() const {
  if (!config_.memory) return folder_ ? folder_->size() : CacheSize{};
  CacheSize size;
  for (const NamedEntry& named : memory_.all()) {
    ++size.entries;
    size.bytes += named.entry->payload().size();
  }
  return size;
}

}  // namespace ingot
