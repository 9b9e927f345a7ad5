#pragma once

#include <functional>

#include "cache/cache.h"

namespace ingot::cli {

// A cache as a person handles it: a folder, or a file.
class CacheStore {
 public:
  virtual ~CacheStore() = default;

  virtual const std::string& path() const = 0;
  // All of it, checked; of a file, damaged entries have no key.
  virtual std::vector<CacheListing> list() const = 0;
  // Those that may be carried elsewhere.
  virtual std::vector<NamedEntry> kernels() const = 0;
  // Deletes entries by key, damaged ones with them where it is a file.
  virtual void remove(const std::vector<CacheListing>& entries) = 0;
  virtual void add(std::vector<NamedEntry> entries) = 0;
};

// Throws Error where there is something that is not to be trusted, or is no cache. Nothing at all is an empty
// cache.
std::unique_ptr<CacheStore> open_cache_folder(const std::string& path, Logger& logger);
std::unique_ptr<CacheStore> open_cache_file(const std::string& path);
// The one or the other, as it is found.
std::unique_ptr<CacheStore> open_cache(const std::string& path, Logger& logger);

}  // namespace ingot::cli
