#include "ingot/runtime.h"

#include "base/mapped_file.h"
#include "base/memory_change.h"
#include "base/reported.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "engine/debug_names.h"
#include "engine/engine_file.h"
#include "engine/header.h"
#include "ingot/error.h"
#include "runtime/devices.h"
#include "runtime/engine_image.h"
#include "runtime/engine_state.h"
#include "runtime/ports.h"
#include "runtime/runtime_cache_state.h"
#include "runtime/sample_shapes.h"
#include "runtime/settings.h"
#include "runtime/validity.h"

namespace ingot {
namespace {

constexpr std::string_view kObject = "engine file";

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

  static std::unique_ptr<Engine::State> load(const std::shared_ptr<const State>& runtime, EngineImage image,
                                             const std::string& name, const OpenOptions& options);
  // Once an engine has its ports and profiles.
  CompileOptions options_for(const Engine::State& engine, const std::string& identity,
                             bool placeholders) const;
  std::shared_ptr<const Program> compile(const Engine::State& engine, std::shared_ptr<const Graph> graph,
                                         const std::string& identity, bool placeholders) const;
  std::shared_ptr<const Program> compile_debug(const Engine::State& engine,
                                               std::shared_ptr<const Graph> graph) const;
  static void take(Engine::State& engine, EngineContent content, EngineImage image);
  // Compiles what can be, and lets the engine compile again for other weights.
  static void prepare_weights(const std::shared_ptr<const State>& runtime, Engine::State& engine, bool defer);
  void log_open(const Engine::State& engine, const std::vector<std::string>& targets) const;
  void log_memory(const Engine::State& engine) const;
  CompileOptions options() const;  // without what belongs to one engine
};

void Runtime::State::take(Engine::State& engine, EngineContent content, EngineImage image) {
  engine.producer = content.producer;
  engine.metadata = with_debug_names(content.graph.metadata(), {});
  engine.inputs = list_inputs(content.graph, content.profiles);
  engine.outputs = list_outputs(content.graph);
  if (auto debug = DebugTensors::of(content.graph)) {
    std::erase_if(engine.outputs, [&](const PortInfo& port) { return debug->has(port.name); });
    engine.debug = std::move(debug);
  }
  engine.profiles = content.profiles;
  engine.identity = to_hex(engine_digest(image.start));
  const EngineValidity header = check_engine_header(image.start);
  engine.fixed.file_bytes = header.file_size;
  engine.fixed.weight_bytes = header.weight_bytes;
  if (content.stripped) engine.missing_weights = describe_missing(content.missing);
  engine.weights.graph = std::make_shared<const Graph>(std::move(content.graph));
  content.graph = {};
  engine.weights.content = std::move(content);
  engine.weights.image = std::move(image);
}

void Runtime::State::prepare_weights(const std::shared_ptr<const State>& runtime, Engine::State& engine,
                                     bool defer) {
  EngineWeights& weights = engine.weights;
  weights.deferred = defer && !weights.content.stripped;
  if (weights.deferred) engine.missing_weights = describe_deferred(*weights.graph);
  weights.compile = [runtime, self = &engine](std::shared_ptr<const Graph> graph, const std::string& identity,
                                              bool placeholders) {
    return runtime->compile(*self, std::move(graph), identity, placeholders);
  };
  if (engine.debug)
    engine.debug->set_compile([runtime, self = &engine](std::shared_ptr<const Graph> graph) {
      return runtime->compile_debug(*self, std::move(graph));
    });
  if (weights.content.stripped) return;
  const Stopwatch watch;
  engine.program = weights.compile(weights.graph, engine.identity, weights.deferred);
  engine.fixed.compile_seconds = watch.seconds();
}

std::unique_ptr<Engine::State> Runtime::State::load(const std::shared_ptr<const State>& runtime,
                                                    EngineImage image, const std::string& name,
                                                    const OpenOptions& options) {
  const Stopwatch watch;
  const auto own_memory = std::make_shared<MemoryAccount>(runtime->memory);
  const MemoryScope scope(own_memory, MemoryPurpose::weights);
  const MemoryChange change(runtime->diagnostics, runtime->memory,
                            fmt::format("opening of engine '{}'", name));
  EngineContent content = read_engine(pieces_of(image, options.defer_weights), name);
  auto engine = std::make_unique<Engine::State>();
  engine->name = name;
  engine->device = runtime->config.device;
  engine->ignored_settings = find_ignored(runtime->config, runtime->device);
  engine->diagnostics = runtime->diagnostics.with(options.recorder);
  engine->memory = own_memory;
  engine->allocation = runtime->config.allocation;
  const std::vector<std::string> targets = content.targets;
  take(*engine, std::move(content), std::move(image));
  require_memory(name, engine->fixed.weight_bytes, weight_limit(runtime->config));
  prepare_weights(runtime, *engine, options.defer_weights);
  engine->fixed.open_seconds = watch.seconds();
  runtime->log_open(*engine, targets);
  runtime->log_memory(*engine);
  change.finish();
  return engine;
}

CompileOptions Runtime::State::options_for(const Engine::State& engine, const std::string& identity,
                                           bool placeholders) const {
  const auto running = engine.program.load();
  const auto streaming = running ? running->weight_streaming() : std::nullopt;
  CompileOptions options = this->options();
  options.identity = identity;
  options.placeholder_weights = placeholders;
  options.shapes = shapes_to_prepare(engine.inputs, engine.profiles.size());
  options.samples = sample_shapes(engine);
  options.memory = engine.memory;
  options.mapped_file = engine.weights.image.mapped_file;
  options.diagnostics = engine.diagnostics;
  if (streaming) options.weight_budget = streaming->budget;
  return options;
}

std::shared_ptr<const Program> Runtime::State::compile(const Engine::State& engine,
                                                       std::shared_ptr<const Graph> graph,
                                                       const std::string& identity, bool placeholders) const {
  if (engine.debug) graph = std::make_shared<const Graph>(engine.debug->without(*graph));
  return device.compile(std::move(graph), options_for(engine, identity, placeholders));
}

// Weights are cached by their place in the graph, which is another one here: so not at all.
std::shared_ptr<const Program> Runtime::State::compile_debug(const Engine::State& engine,
                                                             std::shared_ptr<const Graph> graph) const {
  CompileOptions options = options_for(engine, "", false);
  options.weight_budget.reset();
  options.mapped_file = {};
  const MemoryScope scope(engine.memory, MemoryPurpose::weights);
  return device.compile(std::move(graph), options);
}

CompileOptions Runtime::State::options() const {
  return {.threads = config.threads,
          .cpus = config.cpus,
          .identity = {},
          .isa = config.isa,
          .cache = cache->state().cache,
          .keep_denormals = config.keep_denormals,
          .specialization = config.specialization,
          .deterministic = config.deterministic,
          .weight_budget = config.weight_streaming_budget,
          .workspace_limit = config.workspace_limit,
          .diagnostics = diagnostics};
}

void Runtime::State::log_open(const Engine::State& engine, const std::vector<std::string>& targets) const {
  const Diagnostics& log = diagnostics;
  const bool is_meant = std::ranges::any_of(targets, [&](const std::string& target) {
    return target.substr(0, target.find(':')) == engine.device;
  });
  if (!targets.empty() && !is_meant)
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

std::shared_ptr<const Engine> Runtime::open(const std::string& path, const OpenOptions& options) const {
  return reported(state_->diagnostics.with(options.recorder), [&] {
    std::shared_ptr<const MappedFile> file = MappedFile::open(path, kObject);
    EngineImage image = image_of(file->bytes(), file, path);
    image.mapped_file = file->bytes();
    return std::shared_ptr<const Engine>(new Engine(State::load(state_, std::move(image), path, options)));
  });
}

std::shared_ptr<const Engine> Runtime::open(std::span<const std::byte> bytes,
                                            std::shared_ptr<const void> owner, const std::string& name,
                                            const OpenOptions& options) const {
  return reported(state_->diagnostics.with(options.recorder), [&] {
    const MemoryScope scope(state_->memory, MemoryPurpose::weights);
    return std::shared_ptr<const Engine>(
        new Engine(State::load(state_, image_of(bytes, std::move(owner), name), name, options)));
  });
}

std::shared_ptr<const Engine> Runtime::open(EngineReader& reader, const std::string& name,
                                            const OpenOptions& options) const {
  return reported(state_->diagnostics.with(options.recorder), [&] {
    const MemoryScope scope(state_->memory, MemoryPurpose::weights);
    EngineImage image = read_image(reader, name, !options.defer_weights);
    return std::shared_ptr<const Engine>(new Engine(State::load(state_, std::move(image), name, options)));
  });
}

EngineValidity Runtime::check_validity(const std::string& path) const {
  return reported(state_->diagnostics, [&] {
    EngineValidity validity = check_file(path, weight_limit(state_->config));
    add_limits(validity, state_->device.find_limits(state_->options()));
    return validity;
  });
}

EngineValidity Runtime::verify(const std::string& path) const {
  EngineValidity validity = check_validity(path);
  return reported(state_->diagnostics, [&] {
    if (validity.status != EngineStatus::invalid) add_damage(validity, path);
    return validity;
  });
}

}  // namespace ingot
