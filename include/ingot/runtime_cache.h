#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ingot/export.h"
#include "ingot/logger.h"

// Compiled kernels as an object: shared by engines and runtimes, kept in memory, in a folder or in both,
// moved as one blob or file.
//
//   StderrLogger logger;
//   auto cache = std::make_shared<RuntimeCache>(logger);
//   if (std::filesystem::exists("app.cache")) cache->load("app.cache");
//   Runtime runtime(logger, {.cache = cache});
//   ... open engines, run them ...
//   cache->save("app.cache");
//
// A blob or file holds machine code. Its digests tell what was damaged, not who wrote it: take one only from
// where you would take a program.
namespace ingot {

struct RuntimeCacheConfig {
  std::shared_ptr<ErrorRecorder> recorder = {};
  bool memory = true;  // keep the kernels that engines make or find: what serialize() gives
  // Keep kernels, and also packed weights, in this folder, private to the user; empty: nowhere. Any number of
  // processes may use one folder: each kernel is compiled by one of them.
  std::string folder = {};
  // Folders and cache files that are only read, the first one first: what an application brings with it. They
  // must belong to the user or to root. One that cannot be used is logged and counted as untrusted.
  std::vector<std::string> seeds = {};
  // The kernels that were used longest ago go.
  uint64_t folder_limit_bytes = uint64_t{8} << 30;
  uint64_t memory_limit_bytes = uint64_t{1} << 30;  // also of a file that save() writes
  // How long to wait for a process that is compiling the same kernel, before compiling it too.
  std::chrono::milliseconds lock_wait{10000};
};

// Entries that were not used, by the reason.
struct CacheRejections {
  uint64_t damaged = 0;        // cut short or changed
  uint64_t untrusted = 0;      // others own it or may write to it
  uint64_t other_version = 0;  // made by another version of Ingot
  uint64_t other_device = 0;   // for a processor that has what this one lacks, or for another device

  uint64_t total() const { return damaged + untrusted + other_version + other_device; }
};

// Counters of a cache since it was made.
struct RuntimeCacheStats {
  uint64_t entries = 0;  // kernels that serialize() would give
  uint64_t bytes = 0;    // that they take
  uint64_t hits = 0;     // files and kernels asked for and found
  uint64_t misses = 0;
  CacheRejections rejected;
  uint64_t written = 0;  // files of the folder
  uint64_t write_failures = 0;
  uint64_t evicted = 0;
  uint64_t lock_timeouts = 0;        // waits for another process that were given up
  double compile_seconds = 0;        // what the kernels added took to compile
  double compile_seconds_saved = 0;  // what those found once took
};

// What became of the entries of a blob or file.
struct CacheImport {
  uint64_t added = 0;
  uint64_t known = 0;  // the cache had them
  CacheRejections rejected;
};

// Thread-safe. Engines that use it keep it alive. Kernels are added when engines are opened and, for shapes
// that are new, when they run.
class INGOT_API RuntimeCache {
 public:
  // The logger must outlive the cache and the engines that use it.
  explicit RuntimeCache(Logger& logger, RuntimeCacheConfig config = {});
  ~RuntimeCache();
  RuntimeCache(const RuntimeCache&) = delete;
  RuntimeCache& operator=(const RuntimeCache&) = delete;

  // The folder that a Runtime uses of itself: $INGOT_CACHE, else $XDG_CACHE_HOME/ingot, else ~/.cache/ingot.
  // Empty where $INGOT_CACHE is, or nothing is set.
  static std::string default_folder();

  // The kernels in memory, or without memory those of the folder; seeds only where they were used. Equal
  // content gives equal bytes.
  std::vector<std::byte> serialize() const;
  // Adds what this machine and version can use; each entry is checked, and one that is refused costs itself
  // alone. Throws Error, with nothing added: corrupt for bytes that are no cache, incompatible for those of
  // another format.
  CacheImport deserialize(std::span<const std::byte> blob);
  CacheImport merge(const RuntimeCache& other);

  // deserialize() of a file that belongs to the user or root and nobody else may write to; throws not_found,
  // device where it is not private, and as above.
  CacheImport load(const std::string& path);
  // Adds the kernels to those in the file, which is replaced at once: what other processes add meanwhile
  // stays. Entries of other versions leave it. Throws Error(corrupt) for a file that is no cache, which stays
  // as it is; device where it cannot be written.
  void save(const std::string& path) const;

  // Forgets the kernels in memory; engines keep theirs.
  void clear();

  RuntimeCacheStats stats() const;

  struct State;  // of the implementation
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

// Compiles what an engine needs on other processors into `cache`, for the shapes that each profile names as
// smallest, usual and largest: a machine that loads it compiles nothing for these. Targets are "cpu:LEVEL"
// with a level as in RuntimeConfig::isa, or one of the x86-64 ABI: "cpu:x86-64-v3" is avx2, "cpu:x86-64-v4"
// avx512. Nothing of it is run, so this machine need not have the level. Throws unsupported for other
// targets, and as Runtime::open() does.
INGOT_API void prebuild_kernels(const std::string& engine_path, const std::vector<std::string>& targets,
                                RuntimeCache& cache, int threads = 0);

}  // namespace ingot
