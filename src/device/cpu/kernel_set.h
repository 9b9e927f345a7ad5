#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/function_ref.h"
#include "cache/cache.h"
#include "device/cpu/kernel_registry.h"
#include "ingot/logger.h"
#include "kernel/compiler.h"
#include "kernel/kernel_image.h"

namespace ingot::cpu {

// Where a kernel came from, the cheapest first.
enum class KernelOrigin : uint8_t {
  none,      // not prepared yet
  registry,  // another engine of this process had it
  embedded,  // made when Ingot was built
  image,     // the file of all kernels of this engine
  entry,     // a file of its own
  compiled,
};
std::string_view to_string(KernelOrigin origin);

// Who waits while a kernel is compiled.
enum class CompilePhase : uint8_t {
  ahead,       // whoever opens or prepares an engine
  call,        // an inference
  background,  // nobody
};

struct KernelStats {
  uint64_t registry = 0;
  uint64_t embedded = 0;
  uint64_t image = 0;
  uint64_t entry = 0;
  uint64_t compiled = 0;
  uint64_t compiled_in_calls = 0;
  uint64_t compiled_in_background = 0;
  uint64_t rejected = 0;  // images that are none
  double load_seconds = 0;
  double compile_seconds = 0;
};

// The kernels of one engine. Kernels may be added and prepared at any time, by several threads; their code
// lives as long as the set.
class KernelSet {
 public:
  // `engine_key` names the engine among those in the cache; empty keeps kernels one by one only.
  KernelSet(const kernel::Target& target, std::shared_ptr<Cache> cache, const std::string& engine_key,
            Diagnostics diagnostics = {});

  // A set whose kernels can be described and measured, but are never made: to find out what a plan needs.
  static KernelSet without_code(const kernel::Target& target) { return KernelSet(target); }

  const kernel::Target& target() const { return target_; }

  // The number of the kernel; equal kernels have one number.
  int add(kernel::KernelSource source);

  // Makes callable what needs no compiler, from the cheapest place.
  void load();
  // Makes every kernel added so far callable, and keeps what was compiled for the next start. Compiles on so
  // many threads (0: all). Throws what kernel::compiler() and compile() throw; kernels compiled until then
  // stay.
  void prepare(int threads, CompilePhase phase = CompilePhase::ahead);
  // The same for one kernel, on this thread, while an inference waits.
  void require(int id);
  // Writes the file of all kernels where some were compiled since, which prepare() does but in the
  // background.
  void publish_image();
  bool is_ready(int id) const;
  // The number of an equal kernel that is ready.
  std::optional<int> find_ready(const kernel::KernelSource& source) const;
  // A ready nest that the caller can use: `accepts` is called for one after another.
  std::optional<int> find_ready_nest(FunctionRef<bool(const kernel::LoopNest&)> accepts) const;

  // Of a prepared kernel of that kind; otherwise Error(internal).
  kernel::KernelFunction nest(int id) const { return reinterpret_cast<kernel::KernelFunction>(address(id)); }
  kernel::TileFunction tile(int id) const { return reinterpret_cast<kernel::TileFunction>(address(id)); }

  // Gives the cache every prepared kernel that it lacks, embedded ones too: for another machine.
  void keep_all();

  // For people.
  int size() const;
  const kernel::KernelSource& source(int id) const;
  const std::string& key(int id) const;
  KernelOrigin origin(int id) const;
  size_t code_bytes(int id) const;
  KernelStats stats() const;

 private:
  explicit KernelSet(const kernel::Target& target) : target_(target), engine_{}, has_code_(false) {}

  struct Entry {
    kernel::KernelSource source;
    kernel::Target target;  // the least that it needs
    std::string key;
    std::shared_ptr<const LoadedKernel> kernel;  // null until prepared
    KernelOrigin origin = KernelOrigin::none;
    bool must_compile = false;  // it was looked for everywhere
  };
  // A file of the cache, or a copy of it where files may not be executed.
  struct Image {
    kernel::KernelImage kernels;
    std::shared_ptr<const void> memory;
    uint64_t make_microseconds = 0;
  };

  const Entry& entry(int id) const;
  std::optional<int> find_source(const kernel::KernelSource& source, uint64_t hash) const;
  uintptr_t address(int id) const;
  struct Missing {
    Entry* entry;
    bool must_compile;  // as in the entry
  };
  std::vector<Missing> unprepared() const;
  std::vector<Entry*> load_missing();  // those that must be compiled
  void set(Entry& entry, std::shared_ptr<const LoadedKernel> kernel, KernelOrigin origin);
  bool load(Entry& entry, bool must_compile);
  std::optional<LoadedKernel> load_entry(const Entry& entry, bool counted);
  // False where another process or thread makes it, unless `wait`.
  bool make(Entry& entry, bool wait, CompilePhase phase);
  void compile(Entry& entry, CompilePhase phase);
  void make_all(std::vector<Entry*> missing, int threads, CompilePhase phase);
  void keep(const Entry& entry);
  EntryInfo info_of(kernel::Target target, uint64_t make_microseconds) const;
  void open_image();
  std::shared_ptr<const Image> open_image_file(bool counted);
  std::shared_ptr<const Image> image() const;
  void count_compiled(CompilePhase phase);

  const kernel::Target target_;
  const std::shared_ptr<Cache> cache_;
  const std::string image_key_;
  const Digest engine_;
  const Diagnostics diagnostics_;
  const bool has_code_ = true;
  mutable std::mutex mutex_;  // guards all below
  mutable std::deque<Entry> entries_;
  std::map<std::string, int> ids_;
  std::unordered_multimap<uint64_t, int> ids_by_hash_;  // of sources
  std::once_flag image_opened_;
  std::shared_ptr<const Image> image_;
  KernelStats stats_;
};

}  // namespace ingot::cpu
