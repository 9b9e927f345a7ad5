#include "ingot/runtime.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/file_descriptor.h"
#include "base/mapped_file.h"
#include "base/memory_change.h"
#include "base/os_error.h"
#include "base/reported.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "engine/engine_file.h"
#include "engine/header.h"
#include "ingot/error.h"
#include "runtime/devices.h"
#include "runtime/engine_state.h"
#include "runtime/ports.h"
#include "runtime/runtime_cache_state.h"
#include "runtime/sample_shapes.h"
#include "runtime/settings.h"

namespace ingot {
namespace {

constexpr std::string_view kObject = "engine file";

std::string describe_missing(const std::vector<MissingWeights>& missing) {
  uint64_t bytes = 0;
  for (const MissingWeights& weights : missing) bytes += weights.size;
  return fmt::format("stripped of {} constants, {} bytes", missing.size(), bytes);
}

// Reads until the buffer is full or the file ends.
size_t read_start(const UniqueFd& fd, const std::string& path, std::span<std::byte> buffer) {
  size_t filled = 0;
  while (filled < buffer.size()) {
    ssize_t n = read(fd.get(), buffer.data() + filled, buffer.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_os_error(errno, kObject, path, "read");
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  return filled;
}

EngineValidity check_file(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw_os_error(errno, kObject, path, "open");
  struct stat info;
  if (fstat(fd.get(), &info) != 0) throw_os_error(errno, kObject, path, "read its size");
  require_regular(info.st_mode, kObject, path);
  std::array<std::byte, kHeaderSize> header;
  const size_t size = read_start(fd, path, header);
  return check_engine_header(std::span(header).first(size),
                             {.file_size = static_cast<uint64_t>(info.st_size), .memory = std::nullopt});
}

// A copy, aligned as the reader wants it.
std::shared_ptr<const Tensor> copy_bytes(std::span<const std::byte> bytes) {
  Tensor copy = Tensor::allocate(DType::u8, {static_cast<int64_t>(bytes.size())});
  std::copy(bytes.begin(), bytes.end(), copy.mutable_bytes().begin());
  return std::make_shared<const Tensor>(std::move(copy));
}

// A cache object, or the folder that the configuration or the environment names.
std::shared_ptr<RuntimeCache> cache_of(Logger& logger, const RuntimeConfig& config) {
  if (config.cache && config.cache_folder)
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "cache of a runtime",
                 .expected = "an object or a folder",
                 .observed = "both",
                 .remedy = "Leave RuntimeConfig::cache_folder unset, or name the folder in the "
                           "RuntimeCacheConfig of the object."});
  if (config.cache) return config.cache;
  return std::make_shared<RuntimeCache>(
      logger, RuntimeCacheConfig{.recorder = config.recorder,
                                 .memory = false,
                                 .folder = config.cache_folder.value_or(RuntimeCache::default_folder())});
}

}  // namespace

struct Runtime::State {
  Diagnostics diagnostics;
  RuntimeConfig config;
  const Device& device;
  std::shared_ptr<RuntimeCache> cache;
  std::shared_ptr<MemoryAccount> memory;

  std::unique_ptr<Engine::State> load(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                      const std::string& name, bool is_file = false) const;
  void compile(Engine::State& engine, std::shared_ptr<const Graph> graph,
               std::span<const std::byte> mapped_file) const;
  void log_open(const Engine::State& engine, const std::vector<std::string>& targets) const;
  void log_memory(const Engine::State& engine) const;
};

std::unique_ptr<Engine::State> Runtime::State::load(std::span<const std::byte> bytes,
                                                    std::shared_ptr<const void> owner,
                                                    const std::string& name, bool is_file) const {
  const Stopwatch watch;
  const auto own_memory = std::make_shared<MemoryAccount>(memory);
  const MemoryScope scope(own_memory, MemoryPurpose::weights);
  const MemoryChange change(diagnostics, memory, fmt::format("opening of engine '{}'", name));
  // `owner` stays until the end: the content of an engine without large weights does not keep it.
  EngineContent content = read_engine(bytes, owner, name);
  auto engine = std::make_unique<Engine::State>();
  engine->name = name;
  engine->identity = to_hex(engine_digest(bytes));
  engine->device = config.device;
  engine->producer = content.producer;
  engine->metadata = content.graph.metadata();
  engine->inputs = list_inputs(content.graph, content.profiles);
  engine->outputs = list_outputs(content.graph);
  engine->profiles = std::move(content.profiles);
  engine->ignored_settings = find_ignored(config, device);
  engine->diagnostics = diagnostics;
  engine->memory = own_memory;
  engine->allocation = config.allocation;
  engine->fixed.file_bytes = bytes.size();
  engine->fixed.weight_bytes = check_engine_header(bytes).weight_bytes;
  if (content.stripped) {
    engine->missing_weights = describe_missing(content.missing);
  } else {
    compile(*engine, std::make_shared<const Graph>(std::move(content.graph)),
            is_file ? bytes : std::span<const std::byte>());
  }
  engine->fixed.open_seconds = watch.seconds();
  log_open(*engine, content.targets);
  log_memory(*engine);
  change.finish();
  return engine;
}

void Runtime::State::compile(Engine::State& engine, std::shared_ptr<const Graph> graph,
                             std::span<const std::byte> mapped_file) const {
  const Stopwatch watch;
  CompileOptions options{.threads = config.threads,
                         .cpus = config.cpus,
                         .identity = engine.identity,
                         .isa = config.isa,
                         .cache = cache->state().cache,
                         .keep_denormals = config.keep_denormals,
                         .shapes = shapes_to_prepare(engine.inputs, engine.profiles.size()),
                         .samples = sample_shapes(engine),
                         .specialization = config.specialization,
                         .deterministic = config.deterministic,
                         .memory = engine.memory,
                         .weight_budget = config.weight_streaming_budget,
                         .mapped_file = mapped_file,
                         .diagnostics = diagnostics};
  engine.program = device.compile(std::move(graph), options);
  engine.fixed.compile_seconds = watch.seconds();
}

void Runtime::State::log_open(const Engine::State& engine, const std::vector<std::string>& targets) const {
  const Diagnostics& log = diagnostics;
  if (!targets.empty() && std::find(targets.begin(), targets.end(), engine.device) == targets.end())
    log.log(LogLevel::warning, fmt::format("engine '{}' was built for {}, but is opened for {}", engine.name,
                                           fmt::join(targets, ", "), engine.device));
  if (!engine.program)
    log.log(LogLevel::warning,
            fmt::format("engine '{}' cannot run: {}", engine.name, engine.missing_weights));
  for (const IgnoredSetting& setting : engine.ignored_settings)
    log.log(LogLevel::info, fmt::format("engine '{}': '{}' has no effect on the device '{}': {}", engine.name,
                                        setting.name, engine.device, setting.reason));
  if (log.wants(LogLevel::info))
    log.log(
        LogLevel::info,
        fmt::format("opened engine '{}' for {} in {:.1f} ms, {:.1f} ms of it to compile: {} "
                    "bytes, {} of them weights",
                    engine.name, engine.device, engine.fixed.open_seconds * 1e3,
                    engine.fixed.compile_seconds * 1e3, engine.fixed.file_bytes, engine.fixed.weight_bytes));
}

void Runtime::State::log_memory(const Engine::State& engine) const {
  if (!engine.program || !diagnostics.wants(LogLevel::info)) return;
  const MemoryUse use = engine.memory_use();
  diagnostics.log(
      LogLevel::info,
      fmt::format("engine '{}': host persistent memory {} bytes, device persistent memory {}, scratch memory "
                  "{} at most, activation memory {}, weights {}",
                  engine.name, use.host_persistent, use.device_persistent, use.scratch, use.activation,
                  use.weights));
}

Runtime::Runtime(Logger& logger, RuntimeConfig config) {
  const Diagnostics diagnostics{&logger, config.recorder};
  state_ = reported(diagnostics, [&] {
    check_settings(config);
    const Device& device = find_device(config.device);
    return std::make_shared<const State>(State{diagnostics, config, device, cache_of(logger, config),
                                               std::make_shared<MemoryAccount>(config.allocator)});
  });
}

Runtime::~Runtime() = default;

std::vector<std::string> Runtime::devices() { return device_names(); }

std::shared_ptr<const Engine> Runtime::open(const std::string& path) const {
  return reported(state_->diagnostics, [&] {
    std::shared_ptr<const MappedFile> file = MappedFile::open(path, kObject);
    const std::span<const std::byte> bytes = file->bytes();
    return std::shared_ptr<const Engine>(new Engine(state_->load(bytes, std::move(file), path, true)));
  });
}

std::shared_ptr<const Engine> Runtime::open(std::span<const std::byte> bytes,
                                            std::shared_ptr<const void> owner,
                                            const std::string& name) const {
  return reported(state_->diagnostics, [&] {
    const MemoryScope scope(state_->memory, MemoryPurpose::weights);
    std::shared_ptr<const Tensor> copy;
    if (!owner) copy = copy_bytes(bytes);
    auto state = copy ? state_->load(copy->bytes(), copy, name) : state_->load(bytes, owner, name);
    return std::shared_ptr<const Engine>(new Engine(std::move(state)));
  });
}

EngineValidity Runtime::check_validity(const std::string& path) const {
  return reported(state_->diagnostics, [&] { return check_file(path); });
}

}  // namespace ingot
