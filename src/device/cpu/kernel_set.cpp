#include "device/cpu/kernel_set.h"

#include <algorithm>
#include <array>

#include "base/stopwatch.h"
#include "base/thread_pool.h"
#include "ingot/error.h"
#include "kernel/embedded/embedded_kernels.h"
#include "kernel/executable_memory.h"
#include "kernel/source_hash.h"

namespace ingot::cpu {
namespace {

constexpr size_t kMaxImageKernels = 4096;  // then kernels that are no longer asked for leave the image

std::string image_key_of(const kernel::Target& target, const std::string& engine_key) {
  if (engine_key.empty()) return "";
  const auto text = fmt::format("{}\n{}\n{}", kernel::generator_digest(), to_string(target), engine_key);
  return "image-" + to_hex(sha256(text));
}

Digest digest_of(const std::string& key) { return digest_from_hex(key).value(); }

// Memory from which the bytes of a cache entry can run, and where they are in it.
LoadedKernel executable(const std::shared_ptr<const CacheEntry>& entry) {
  if (entry->make_executable()) return {entry->payload(), entry};
  const auto copy = kernel::ExecutableMemory::copy(entry->payload());
  return {copy->bytes(), copy};
}

// In place of kernels that are never made.
void fail_without_code() {
  throw Error({.code = ErrorCode::internal,
               .object = "kernel",
               .expected = "a plan that is measured only",
               .observed = "one that runs"});
}

}  // namespace

std::string_view to_string(KernelOrigin origin) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"none", "registry", "embedded", "image", "entry", "compiled"});
  return kNames.at(static_cast<size_t>(origin));
}

KernelSet::KernelSet(const kernel::Target& target, std::shared_ptr<Cache> cache,
                     const std::string& engine_key, Diagnostics diagnostics)
    : target_(target),
      cache_(cache ? std::move(cache) : std::make_shared<Cache>("")),
      image_key_(image_key_of(target, engine_key)),
      engine_(digest_from_hex(engine_key).value_or(Digest{})),
      diagnostics_(std::move(diagnostics)) {}

std::optional<int> KernelSet::find_source(const kernel::KernelSource& source, uint64_t hash) const {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = ids_by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (entries_[static_cast<size_t>(it->second)].source == source) return it->second;
  return std::nullopt;
}

// The key takes a hundred times longer than to find an equal source.
int KernelSet::add(kernel::KernelSource source) {
  const uint64_t hash = kernel::hash_of(source);
  if (const auto known = find_source(source, hash)) return *known;
  const kernel::Target target = kernel::least_target(source, target_);
  std::string key = kernel::kernel_key(source, target);
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = ids_.emplace(key, static_cast<int>(entries_.size()));
  if (is_new) {
    ids_by_hash_.emplace(hash, place->second);
    entries_.push_back({std::move(source), target, std::move(key), nullptr, KernelOrigin::none, false});
  }
  return place->second;
}

void KernelSet::load() {
  if (has_code_) load_missing();
}

std::vector<KernelSet::Entry*> KernelSet::load_missing() {
  const Stopwatch load_time;
  std::vector<Entry*> missing;
  for (const Missing& one : unprepared())
    if (!load(*one.entry, one.must_compile)) missing.push_back(one.entry);
  const std::lock_guard lock(mutex_);
  stats_.load_seconds += load_time.seconds();
  for (Entry* entry : missing) entry->must_compile = true;
  return missing;
}

void KernelSet::prepare(int threads, CompilePhase phase) {
  if (!has_code_ || unprepared().empty()) return;
  const std::vector<Entry*> missing = load_missing();
  const Stopwatch compile_time;
  if (!missing.empty()) {
    make_all(missing, threads, phase);
    const std::lock_guard lock(mutex_);
    stats_.compile_seconds += compile_time.seconds();
  }
  if (phase != CompilePhase::background) publish_image();
}

// What others are making is left for the end: by then most of it is there, and nobody waited idle.
void KernelSet::make_all(std::vector<Entry*> missing, int threads, CompilePhase phase) {
  ThreadPool pool(threads == 0 ? 0 : std::min(threads, static_cast<int>(missing.size())));
  for (const bool wait : {false, true}) {
    pool.parallel_for(static_cast<int64_t>(missing.size()), 1, [&](int64_t i, int64_t, int) {
      Entry*& entry = missing[static_cast<size_t>(i)];
      if (make(*entry, wait, phase)) entry = nullptr;
    });
    std::erase(missing, nullptr);
  }
}

void KernelSet::require(int id) {
  if (!has_code_) return;
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    entry = &entries_.at(static_cast<size_t>(id));
    if (entry->kernel) return;
  }
  if (diagnostics_.wants(LogLevel::verbose))
    diagnostics_.log(LogLevel::verbose, "an inference waits for a kernel that no other stands in for:\n" +
                                            to_string(entry->source));
  make(*entry, true, CompilePhase::call);
}

bool KernelSet::is_ready(int id) const {
  if (!has_code_) return true;
  const std::lock_guard lock(mutex_);
  return entries_.at(static_cast<size_t>(id)).kernel != nullptr;
}

std::optional<int> KernelSet::find_ready(const kernel::KernelSource& source) const {
  const auto known = find_source(source, kernel::hash_of(source));
  return known && is_ready(*known) ? known : std::nullopt;
}

std::optional<int> KernelSet::find_ready_nest(FunctionRef<bool(const kernel::LoopNest&)> accepts) const {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const auto* nest = std::get_if<kernel::LoopNest>(&entries_[i].source);
    if (nest && entries_[i].kernel && accepts(*nest)) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::vector<KernelSet::Missing> KernelSet::unprepared() const {
  const std::lock_guard lock(mutex_);
  std::vector<Missing> result;
  for (Entry& entry : entries_)
    if (!entry.kernel) result.push_back({&entry, entry.must_compile});
  return result;
}

void KernelSet::set(Entry& entry, std::shared_ptr<const LoadedKernel> kernel, KernelOrigin origin) {
  const std::lock_guard lock(mutex_);
  // Another thread may have prepared it too, even with what this one compiled.
  if (entry.kernel && origin != KernelOrigin::compiled) return;
  entry.kernel = std::move(kernel);
  entry.origin = origin;
  const std::array<uint64_t*, 6> counters = {nullptr,       &stats_.registry, &stats_.embedded,
                                             &stats_.image, &stats_.entry,    &stats_.compiled};
  ++*counters.at(static_cast<size_t>(origin));
}

// False where it must be compiled.
bool KernelSet::load(Entry& entry, bool must_compile) {
  KernelRegistry& registry = KernelRegistry::of_process();
  if (auto kernel = registry.find(entry.key)) {
    set(entry, std::move(kernel), KernelOrigin::registry);
    return keep(entry), true;
  }
  if (must_compile) return false;
  LoadedKernel found;
  KernelOrigin origin = KernelOrigin::embedded;
  const Digest digest = digest_of(entry.key);
  if (const auto* embedded = kernel::embedded_kernels()) found.code = embedded->find(digest);
  if (found.code.empty()) {
    std::call_once(image_opened_, [this] { open_image(); });
    origin = KernelOrigin::image;
    if (const auto opened = image()) found = {opened->kernels.find(digest), opened};
  }
  if (found.code.empty()) {
    origin = KernelOrigin::entry;
    if (auto loaded = load_entry(entry, true)) found = std::move(*loaded);
  }
  if (found.code.empty()) return false;
  set(entry, registry.get(entry.key, [&] { return found; }), origin);
  if (origin == KernelOrigin::image && cache_->keeps_in_memory()) keep(entry);
  return true;
}

std::optional<LoadedKernel> KernelSet::load_entry(const Entry& entry, bool counted) {
  const auto file = cache_->find(kernel_entry_key(entry.key), counted);
  if (!file) return std::nullopt;
  LoadedKernel loaded = executable(file);
  loaded.make_microseconds = file->info().make_microseconds;
  return loaded;
}

bool KernelSet::make(Entry& entry, bool wait, CompilePhase phase) {
  const std::string key = kernel_entry_key(entry.key);
  const Cache::Turn turn = wait ? cache_->wait_turn(key) : cache_->try_turn(key);
  if (turn.mine) compile(entry, phase);
  return turn.mine;
}

// Unless somebody else has just done it.
void KernelSet::compile(Entry& entry, CompilePhase phase) {
  KernelOrigin origin = KernelOrigin::registry;
  auto kernel = KernelRegistry::of_process().get(entry.key, [&] {
    if (auto loaded = load_entry(entry, false)) {
      origin = KernelOrigin::entry;
      return std::move(*loaded);
    }
    const Stopwatch watch;
    const kernel::Code code = kernel::compiler().compile(entry.source, entry.target);
    const auto microseconds = static_cast<uint64_t>(watch.seconds() * 1e6);
    origin = KernelOrigin::compiled;
    const auto memory = kernel::ExecutableMemory::copy(code);
    return LoadedKernel{memory->bytes(), memory, microseconds};
  });
  if (origin == KernelOrigin::compiled) {
    cache_->put(kernel_entry_key(entry.key), info_of(entry.target, kernel->make_microseconds), kernel->code);
    count_compiled(phase);
  }
  set(entry, std::move(kernel), origin);
}

EntryInfo KernelSet::info_of(kernel::Target target, uint64_t make_microseconds) const {
  return {.target = kernel::target_name(target.level),
          .generator = digest_of(std::string(kernel::generator_digest())),
          .engine = engine_,
          .make_microseconds = make_microseconds};
}

// What came another way belongs to the kernels of this cache all the same.
void KernelSet::keep(const Entry& entry) {
  const std::string key = kernel_entry_key(entry.key);
  if (!cache_->lacks(key)) return;
  std::shared_ptr<const LoadedKernel> kernel;
  {
    const std::lock_guard lock(mutex_);
    kernel = entry.kernel;
  }
  const auto memory = Mapping::copy_of(kernel->code);
  if (!memory) return;
  const EntryInfo info = info_of(entry.target, kernel->make_microseconds);
  cache_->keep({key, std::make_shared<CacheEntry>(info, memory, memory->bytes()), seconds_now()});
}

void KernelSet::keep_all() {
  for (int id = 0; id < size(); ++id)
    if (origin(id) != KernelOrigin::none) keep(entry(id));
}

void KernelSet::count_compiled(CompilePhase phase) {
  const std::lock_guard lock(mutex_);
  if (phase == CompilePhase::call) ++stats_.compiled_in_calls;
  if (phase == CompilePhase::background) ++stats_.compiled_in_background;
}

void KernelSet::open_image() {
  auto opened = open_image_file(true);
  const std::lock_guard lock(mutex_);
  image_ = std::move(opened);
}

std::shared_ptr<const KernelSet::Image> KernelSet::open_image_file(bool counted) {
  const auto file = image_key_.empty() ? nullptr : cache_->find(image_key_, counted);
  if (!file) return nullptr;
  const LoadedKernel memory = executable(file);
  if (const auto kernels = kernel::KernelImage::open(memory.code))
    return std::make_shared<const Image>(Image{*kernels, memory.memory, file->info().make_microseconds});
  cache_->drop_damaged(image_key_, "not a list of kernels");
  const std::lock_guard lock(mutex_);
  ++stats_.rejected;
  return nullptr;
}

std::shared_ptr<const KernelSet::Image> KernelSet::image() const {
  const std::lock_guard lock(mutex_);
  return image_;
}

// Writes all kernels of the set into the image, unless it has them already. What others left there stays,
// also what they left since this set read it: one process meets other shapes than the next.
void KernelSet::publish_image() {
  if (image_key_.empty()) return;
  std::map<Digest, std::span<const std::byte>> kernels;
  std::vector<std::shared_ptr<const LoadedKernel>> keep_alive;
  const auto opened = image();
  bool complete = true;
  uint64_t make_microseconds = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (!entry.kernel || entry.origin == KernelOrigin::embedded) continue;
      const Digest digest = digest_of(entry.key);
      complete = complete && opened && !opened->kernels.find(digest).empty();
      make_microseconds += entry.kernel->make_microseconds;
      kernels.emplace(digest, entry.kernel->code);
      keep_alive.push_back(entry.kernel);
    }
  }
  if (kernels.empty() || complete) return;
  const Cache::Turn turn = cache_->wait_turn(image_key_);
  const auto before = open_image_file(false);
  if (before && before->kernels.size() + kernels.size() <= kMaxImageKernels) {
    kernels.merge(before->kernels.kernels());
    make_microseconds = std::max(make_microseconds, before->make_microseconds);
  }
  cache_->put(image_key_, info_of(target_, make_microseconds), kernel::make_image(kernels));
}

const KernelSet::Entry& KernelSet::entry(int id) const {
  const std::lock_guard lock(mutex_);
  return entries_.at(static_cast<size_t>(id));
}

uintptr_t KernelSet::address(int id) const {
  if (!has_code_) return reinterpret_cast<uintptr_t>(&fail_without_code);
  const std::lock_guard lock(mutex_);
  const Entry& entry = entries_.at(static_cast<size_t>(id));
  if (!entry.kernel)
    throw Error({.code = ErrorCode::internal,
                 .object = "kernel",
                 .name = entry.key,
                 .expected = "prepare() before its use",
                 .observed = "a kernel that was only added"});
  return reinterpret_cast<uintptr_t>(entry.kernel->code.data());
}

int KernelSet::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(entries_.size());
}

const kernel::KernelSource& KernelSet::source(int id) const { return entry(id).source; }
const std::string& KernelSet::key(int id) const { return entry(id).key; }

KernelOrigin KernelSet::origin(int id) const {
  const std::lock_guard lock(mutex_);
  return entries_.at(static_cast<size_t>(id)).origin;
}

size_t KernelSet::code_bytes(int id) const {
  const std::lock_guard lock(mutex_);
  const Entry& entry = entries_.at(static_cast<size_t>(id));
  return entry.kernel ? entry.kernel->code.size() : 0;
}

KernelStats KernelSet::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace ingot::cpu
