#include "base/memory_change.h"
#include "base/reported.h"
#include "ingot/error.h"
#include "runtime/context_state.h"
#include "runtime/engine_state.h"
#include "runtime/ports.h"

namespace ingot {
void fail_stripped(const Engine::State& engine) {
  throw Error({.code = ErrorCode::incompatible,
               .object = "engine",
               .name = engine.name,
               .expected = "an engine with its weights",
               .observed = engine.missing_weights,
               .remedy = "Give it its weights with a Refitter or 'ingot refit'."});
}

namespace {

size_t bounded(const Engine::State& engine, const std::optional<MemoryNeed>& need) {
  if (need) return static_cast<size_t>(need->bytes);
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "engine",
               .name = engine.name,
               .expected = "inputs whose sizes have an upper bound",
               .observed = "sizes that are left open",
               .remedy = "Build it with a profile, or call Context::memory_size_for_shapes()."});
}

void require_profile(const Engine::State& engine, size_t profile) {
  const size_t count = engine.profiles.size();
  if (profile < std::max<size_t>(count, 1)) return;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "engine",
               .name = engine.name,
               .expected = fmt::format("one of {} profiles, counted from 0", count),
               .observed = fmt::format("{}", profile)});
}

}  // namespace

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::~Engine() = default;

const std::string& Engine::name() const { return state_->name; }
const std::string& Engine::device() const { return state_->device; }
const std::string& Engine::producer() const { return state_->producer; }
const std::map<std::string, std::string>& Engine::metadata() const { return state_->metadata; }
const std::vector<PortInfo>& Engine::inputs() const { return state_->inputs; }
const std::vector<PortInfo>& Engine::outputs() const { return state_->outputs; }
const std::vector<Profile>& Engine::profiles() const { return state_->profiles; }
std::shared_ptr<const Program> Engine::State::debug_program() const {
  require_weights();
  const std::lock_guard lock(weights.mutex);
  return debug->program(weights.graph);
}

std::vector<PortInfo> Engine::debug_tensors() const {
  return state_->debug ? state_->debug->tensors() : std::vector<PortInfo>();
}
const std::vector<IgnoredSetting>& Engine::ignored_settings() const { return state_->ignored_settings; }

const PortInfo& Engine::input(std::string_view name) const {
  return reported(state_->diagnostics, [&]() -> const PortInfo& {
    return state_->inputs[find_port(state_->inputs, "input", name)];
  });
}

const PortInfo& Engine::output(std::string_view name) const {
  return reported(state_->diagnostics, [&]() -> const PortInfo& {
    return state_->outputs[find_port(state_->outputs, "output", name)];
  });
}

EngineStats Engine::stats() const {
  EngineStats stats = state_->fixed;
  {
    const std::lock_guard lock(state_->weights.mutex);
    for (const MissingWeights& missing : state_->weights.content.missing)
      stats.stripped_weight_bytes += missing.size;
  }
  if (const auto running = state_->program.load()) {
    const ProgramStats program = running->stats();
    stats.kernels = program.kernels;
    stats.kernels_compiled = program.kernels_compiled;
    stats.kernels_cached = program.kernels_cached;
    stats.cache_rejected = program.cache_rejected;
    stats.cache_write_failures = program.cache_write_failures;
    stats.kernels_compiled_in_calls = program.kernels_compiled_in_calls;
    stats.kernels_compiled_in_background = program.kernels_compiled_in_background;
    stats.plans = program.plans;
    stats.plans_evicted = program.plans_evicted;
    stats.generic_runs = program.generic_runs;
    stats.specialized = program.specialized;
    stats.specializations_pending = program.specializations_pending;
    stats.specialize_seconds = program.specialize_seconds;
    stats.reference_nodes = program.reference_nodes;
    stats.arena_bytes = program.arena_bytes;
    stats.arena_least_bytes = program.arena_least_bytes;
    stats.scratch_bytes = program.scratch_bytes;
    stats.packed_bytes = program.packed_bytes;
    if (const auto streaming = state_->program->weight_streaming())
      stats.streamed_weight_bytes = streaming->streamed_bytes;
  }
  stats.contexts_created = state_->contexts_created;
  stats.inferences = state_->inferences;
  return stats;
}

RefitMode Engine::refit_mode() const { return state_->weights.content.refit; }

void Engine::State::require_weights() const {
  if (!weights.deferred) return;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "engine",
               .name = name,
               .expected = "its weights",
               .observed = missing_weights,
               .remedy = "Call Engine::load_weights() first."});
}

MachineSpeed Engine::measure_speed() const {
  return reported(state_->diagnostics,
                  [&] { return state_->program ? state_->program->measure_speed() : MachineSpeed(); });
}

KernelListing Engine::list_kernel(std::string_view key) const {
  return reported(state_->diagnostics, [&] {
    if (!state_->program) fail_stripped(*state_);
    return state_->program->list_kernel(key);
  });
}

std::unique_ptr<Context> Engine::create_context(std::string name) const {
  return create_context(ContextOptions{.name = std::move(name)});
}

std::unique_ptr<Context> Engine::create_context(ContextOptions options) const {
  return reported(state_->diagnostics, [&] {
    if (!state_->program) fail_stripped(*state_);
    const uint64_t number = ++state_->contexts_created;
    if (options.name.empty()) options.name = fmt::format("context {}", number);
    const MemoryChange change(state_->diagnostics, state_->memory,
                              fmt::format("creation of '{}' of engine '{}'", options.name, state_->name));
    auto state = std::make_shared<Context::State>(shared_from_this(), options);
    change.finish();
    return std::unique_ptr<Context>(new Context(std::move(state)));
  });
}

size_t Engine::memory_size() const {
  return reported(state_->diagnostics, [&] {
    if (!state_->program) fail_stripped(*state_);
    return bounded(*state_, state_->memory_need());
  });
}

size_t Engine::memory_size(size_t profile) const {
  return reported(state_->diagnostics, [&] {
    if (!state_->program) fail_stripped(*state_);
    require_profile(*state_, profile);
    return bounded(*state_, state_->memory_need(profile));
  });
}

MemoryUse Engine::memory_use() const {
  return reported(state_->diagnostics, [&] {
    if (!state_->program) fail_stripped(*state_);
    return state_->memory_use();
  });
}

}  // namespace ingot
