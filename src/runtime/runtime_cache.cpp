#include "ingot/runtime_cache.h"

#include "base/reported.h"
#include "ingot/error.h"
#include "runtime/devices.h"
#include "runtime/runtime_cache_state.h"

namespace ingot {
namespace {

constexpr std::string_view kBlobName = "blob";

CacheConfig config_of(Logger& logger, RuntimeCacheConfig config) {
  return {.folder = std::move(config.folder),
          .memory = config.memory,
          .seeds = std::move(config.seeds),
          .folder_limit_bytes = config.folder_limit_bytes,
          .memory_limit_bytes = config.memory_limit_bytes,
          .lock_wait = config.lock_wait,
          .diagnostics = {&logger, std::move(config.recorder)}};
}

// "cpu:avx512" is of the device "cpu".
const Device* device_of(const std::string& target) {
  const std::string name = target.substr(0, target.find(':'));
  for (const std::string& known : device_names())
    if (known == name) return &find_device(name);
  return nullptr;
}

// Adds what can be used here; the counters of the cache count the rest too.
CacheImport import(Cache& cache, const ContainerContent& content) {
  CacheImport result;
  result.rejected.damaged = content.damaged;
  for (const NamedEntry& named : content.entries) {
    const CodeUse use = use_of_entry(named.entry->info());
    if (!is_kernel_key(named.key) || use == CodeUse::other_device)
      ++result.rejected.other_device;
    else if (use == CodeUse::other_version)
      ++result.rejected.other_version;
    else
      ++(cache.keep(named) ? result.added : result.known);
  }
  CacheCounters& counters = cache.counters();
  counters.damaged += result.rejected.damaged;
  counters.outdated += result.rejected.other_version;
  counters.other_device += result.rejected.other_device;
  return result;
}

void log_import(const Diagnostics& diagnostics, std::string_view name, const CacheImport& result) {
  const CacheRejections& rejected = result.rejected;
  diagnostics.log(rejected.total() > 0 ? LogLevel::warning : LogLevel::info,
                  fmt::format("cache: {}: {} kernels added, {} known; not used: {} damaged, {} of another "
                              "version, {} for another device",
                              name, result.added, result.known, rejected.damaged, rejected.other_version,
                              rejected.other_device));
}

// Kernels for other machines may share the file; those of other versions nobody asks for any more.
void drop_outdated(std::vector<NamedEntry>& entries) {
  std::erase_if(entries, [](const NamedEntry& named) {
    return use_of_entry(named.entry->info()) == CodeUse::other_version;
  });
}

}  // namespace

CodeUse use_of_entry(const EntryInfo& info) {
  const Device* device = device_of(info.target);
  return device ? device->use_of_code(info.target, info.generator) : CodeUse::other_device;
}

RuntimeCache::RuntimeCache(Logger& logger, RuntimeCacheConfig config)
    : state_(std::make_shared<State>(State{std::make_shared<Cache>(config_of(logger, std::move(config)))})) {}

RuntimeCache::~RuntimeCache() = default;

std::string RuntimeCache::default_folder() { return Cache::default_folder(); }

std::vector<std::byte> RuntimeCache::serialize() const {
  return reported(state_->cache->config().diagnostics,
                  [&] { return make_container(state_->cache->kernels()); });
}

CacheImport RuntimeCache::deserialize(std::span<const std::byte> blob) {
  const Diagnostics& diagnostics = state_->cache->config().diagnostics;
  return reported(diagnostics, [&] {
    const auto memory = Mapping::copy_of(blob);
    if (!memory) throw std::bad_alloc();
    CacheImport result = import(*state_->cache, read_container(memory, std::string(kBlobName)));
    log_import(diagnostics, kBlobName, result);
    return result;
  });
}

CacheImport RuntimeCache::merge(const RuntimeCache& other) {
  return reported(state_->cache->config().diagnostics,
                  [&] { return import(*state_->cache, {other.state_->cache->kernels()}); });
}

CacheImport RuntimeCache::load(const std::string& path) {
  const Diagnostics& diagnostics = state_->cache->config().diagnostics;
  return reported(diagnostics, [&] {
    CacheImport result = import(*state_->cache, read_container_file(path, CacheTrust::shipped));
    log_import(diagnostics, path, result);
    return result;
  });
}

void RuntimeCache::save(const std::string& path) const {
  const CacheConfig& config = state_->cache->config();
  reported(config.diagnostics, [&] {
    update_container_file(path, config.lock_wait, [&](ContainerContent content) {
      drop_outdated(content.entries);
      return merge_entries(std::move(content.entries), state_->cache->kernels(), config.memory_limit_bytes);
    });
  });
}

void RuntimeCache::clear() { state_->cache->clear_memory(); }

RuntimeCacheStats RuntimeCache::stats() const {
  const CacheStats stats = state_->cache->stats();
  const CacheSize size = state_->cache->size();
  return {.entries = size.entries,
          .bytes = size.bytes,
          .hits = stats.hits,
          .misses = stats.misses,
          .rejected = {.damaged = stats.damaged,
                       .untrusted = stats.refused,
                       .other_version = stats.outdated,
                       .other_device = stats.other_device},
          .written = stats.written,
          .write_failures = stats.write_failures,
          .evicted = stats.evicted,
          .lock_timeouts = stats.lock_timeouts,
          .compile_seconds = static_cast<double>(stats.made_microseconds) / 1e6,
          .compile_seconds_saved = static_cast<double>(stats.saved_microseconds) / 1e6};
}

}  // namespace ingot
