#include "cli/cache_store.h"

#include <unistd.h>

#include <filesystem>
#include <set>

#include "ingot/error.h"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::milliseconds kLockWait{30000};
constexpr uint64_t kNoLimit = ~uint64_t{0};

class FolderStore : public CacheStore {
 public:
  FolderStore(std::string path, Logger& logger)
      : diagnostics_{.logger = &logger, .recorder = nullptr},
        path_(std::move(path)),
        folder_(path_, CacheTrust::own, kNoLimit, diagnostics_, counters_) {}

  const std::string& path() const override { return path_; }
  std::vector<CacheListing> list() const override { return folder_.list(); }

  std::vector<NamedEntry> kernels() const override {
    return Cache({.folder = path_, .diagnostics = diagnostics_}).kernels();
  }

  void remove(const std::vector<CacheListing>& entries) override {
    for (const CacheListing& entry : entries) unlink((path_ + "/" + entry.key).c_str());
    AtomicFile::remove_abandoned(path_);
  }

  void add(std::vector<NamedEntry> entries) override {
    for (const NamedEntry& named : entries)
      if (!folder_.contains(named.key) &&
          !folder_.put(named.key, named.entry->info(), named.entry->payload(), {}))
        throw Error({.code = ErrorCode::device,
                     .object = "cache",
                     .name = path_,
                     .expected = "a private folder that can be written",
                     .observed = "a refused entry",
                     .remedy = "See the warning before this."});
  }

 private:
  const Diagnostics diagnostics_;
  const std::string path_;
  mutable CacheCounters counters_;
  CacheFolder folder_;
};

class FileStore : public CacheStore {
 public:
  explicit FileStore(std::string path) : path_(std::move(path)) {}

  const std::string& path() const override { return path_; }

  std::vector<CacheListing> list() const override {
    const ContainerContent content = read();
    std::vector<CacheListing> listings;
    for (const NamedEntry& named : content.entries) {
      CacheListing listing;
      listing.key = named.key;
      listing.info = named.entry->info();
      listing.bytes = named.entry->payload().size();
      listing.used_seconds = named.used_seconds;
      listings.push_back(std::move(listing));
    }
    for (uint64_t i = 0; i < content.damaged; ++i) {
      listings.emplace_back();
      listings.back().fault = "changed since it was written";
    }
    return listings;
  }

  std::vector<NamedEntry> kernels() const override { return read().entries; }

  void remove(const std::vector<CacheListing>& entries) override {
    std::set<std::string> keys;
    for (const CacheListing& entry : entries) keys.insert(entry.key);
    update_container_file(path_, kLockWait, [&](ContainerContent content) {
      std::erase_if(content.entries, [&](const NamedEntry& named) { return keys.contains(named.key); });
      return std::move(content.entries);
    });
  }

  void add(std::vector<NamedEntry> entries) override {
    update_container_file(path_, kLockWait, [&](ContainerContent content) {
      return merge_entries(std::move(content.entries), std::move(entries), kNoLimit);
    });
  }

 private:
  ContainerContent read() const {
    return fs::exists(path_) ? read_container_file(path_, CacheTrust::shipped) : ContainerContent{};
  }

  const std::string path_;
};

}  // namespace

std::unique_ptr<CacheStore> open_cache_folder(const std::string& path, Logger& logger) {
  struct stat info;
  std::string observed;
  if (stat(path.c_str(), &info) == 0)
    observed = S_ISDIR(info.st_mode) ? distrust_of(info, CacheTrust::own) : "is no folder";
  if (!observed.empty())
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "cache",
                 .name = path,
                 .expected = "a private folder of yours",
                 .observed = "it " + observed,
                 .remedy = "Name another with --folder, or a file with --file."});
  return std::make_unique<FolderStore>(path, logger);
}

std::unique_ptr<CacheStore> open_cache_file(const std::string& path) {
  return std::make_unique<FileStore>(path);
}

std::unique_ptr<CacheStore> open_cache(const std::string& path, Logger& logger) {
  if (fs::is_directory(path)) return open_cache_folder(path, logger);
  if (!fs::exists(path))
    throw Error({.code = ErrorCode::not_found,
                 .object = "cache",
                 .name = path,
                 .expected = "a folder or file of kernels",
                 .observed = "nothing of that name"});
  return open_cache_file(path);
}

}  // namespace ingot::cli
