#include "runtime/context_state.h"

#include <new>

#include "base/stopwatch.h"
#include "ingot/error.h"
#include "runtime/engine_state.h"
#include "runtime/outputs.h"
#include "runtime/overlap.h"
#include "runtime/ports.h"
#include "runtime/profile_choice.h"

namespace ingot {
namespace {

ErrorParts invalid(std::string object, std::string name, std::string expected, std::string observed,
                   std::string remedy = {}) {
  return {.code = ErrorCode::invalid_argument,
          .object = std::move(object),
          .name = std::move(name),
          .expected = std::move(expected),
          .observed = std::move(observed),
          .remedy = std::move(remedy)};
}

std::string quoted(const std::vector<std::string>& names) {
  return fmt::format("'{}'", fmt::join(names, "', '"));
}

// What an inference may throw, as Error.
Error current_error() {
  try {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return Error({.code = ErrorCode::out_of_memory,
                  .object = "inference",
                  .expected = "memory for intermediate values",
                  .observed = "a refused allocation",
                  .remedy = "Use smaller shapes, free memory or raise the limit of the process."});
  } catch (const std::exception& e) {
    return Error({.code = ErrorCode::internal, .object = "inference", .observed = e.what()});
  }
}

}  // namespace

Context::State::State(std::shared_ptr<const Engine> owner, const ContextOptions& options)
    : engine(std::move(owner)),
      alive(engine->state_->contexts_alive),
      name(options.name),
      diagnostics(shared().diagnostics.with(options.recorder)),
      memory(*engine->state_, options.allocation.value_or(shared().allocation), name),
      program(shared().program.load()),
      execution(program->start()) {
  for (const PortInfo& port : shared().inputs) inputs.push_back({.shape = known_shape(port.type)});
  outputs.resize(shared().outputs.size());
}

const Engine::State& Context::State::shared() const { return *engine->state_; }

SymbolSizes Context::State::bind_known_shapes() const {
  SymbolBinder binder;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PortInfo& port = shared().inputs[i];
    if (inputs[i].shape && port.type.is_ranked())
      binder.bind_shape(port.name, *port.type.dims, *inputs[i].shape);
  }
  return binder.finish();
}

const PortInfo& Context::State::port(std::string_view wanted) const {
  for (const PortInfo& input : shared().inputs)
    if (input.name == wanted) return input;
  return shared().outputs[find_port(shared().outputs, "input or output", wanted)];
}

std::optional<Shape> Context::State::shape_of(std::string_view port) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (shared().inputs[i].name == port) return inputs[i].shape;
  const size_t index = find_port(shared().outputs, "input or output", port);
  return known_shape(shared().outputs[index].type, bind_known_shapes());
}

void Context::State::require_raw_ports() const {
  auto refuse = [](const PortInfo& port, const char* kind) {
    throw Error(invalid(kind, port.name, "a tensor of numbers to read or write in place",
                        to_string(port.type), "Call run() instead of enqueue()."));
  };
  for (const PortInfo& port : shared().inputs)
    if (!has_raw_bytes(port.type) && port.type.kind != Type::Kind::optional) refuse(port, "input");
  for (const PortInfo& port : shared().outputs)
    if (!has_raw_bytes(port.type)) refuse(port, "output");
}

void Context::State::require_shapes() const {
  std::vector<std::string> missing;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (shared().inputs[i].type.is_tensor() && !inputs[i].shape) missing.push_back(shared().inputs[i].name);
  if (!missing.empty())
    throw Error(invalid("context", name, "the shape of every input", "none for " + quoted(missing),
                        "Call set_shape()."));
}

// An empty tensor needs no memory.
void Context::State::require_memory(const SymbolSizes& sizes) const {
  auto is_empty = [&](const PortInfo& port, const std::optional<Shape>& shape) {
    const std::optional<Shape> known = shape ? shape : known_shape(port.type, sizes);
    return known && element_count(*known) == 0;
  };
  std::vector<std::string> missing;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PortInfo& port = shared().inputs[i];
    if (port.type.is_tensor() && !inputs[i].memory && !is_empty(port, inputs[i].shape))
      missing.push_back(port.name);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PortInfo& port = shared().outputs[i];
    if (!outputs[i].memory && !outputs[i].allocator && !is_empty(port, std::nullopt))
      missing.push_back(port.name);
  }
  if (!missing.empty())
    throw Error(invalid("context", name, "memory for every input and output", "none for " + quoted(missing),
                        "Call bind_input() and bind_output()."));
}

void Context::State::require_output_sizes(const SymbolSizes& sizes) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PortInfo& port = shared().outputs[i];
    if (outputs[i].allocator) continue;
    if (std::optional<Shape> shape = known_shape(port.type, sizes))
      require_output_bytes(port, *shape, outputs[i].bytes);
  }
}

std::shared_ptr<const Bindings> Context::State::bindings() {
  if (!bound) {
    follow_shapes();
    std::vector<Datum> data = gather_inputs();
    auto in_place = find_in_place(shared(), inputs, outputs);
    bound = std::make_shared<const Bindings>(
        Bindings{std::move(data), outputs, std::move(in_place), memory.for_inference(input_shapes())});
  }
  return bound;
}

void Context::State::listen(DebugListener listener) {
  require_idle();
  if (listener && !shared().debug)
    throw Error(invalid("engine", shared().name, "debug tensors to listen to", "none",
                        "Name outputs in BuilderConfig::debug_tensors and build it again."));
  if (listener) shared().debug_program();  // so that no inference waits for it
  debug_listener = std::move(listener);
}

void Context::State::change_profile(size_t wanted) {
  if (wanted == profile) return;
  memory.change_profile(wanted);
  bound = nullptr;
  profile = wanted;
}

void Context::State::follow_shapes() {
  if (!chooses_profile) return;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (shared().inputs[i].type.is_tensor() && !inputs[i].shape) return;
  change_profile(choose_profile(shared(), input_shapes()));
}

void Context::State::forget_shapes() {
  bound = nullptr;
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].shape = known_shape(shared().inputs[i].type);
}

std::vector<std::optional<Shape>> Context::State::input_shapes() const {
  std::vector<std::optional<Shape>> shapes;
  for (const InputSlot& slot : inputs) shapes.push_back(slot.shape);
  return shapes;
}

std::vector<Datum> Context::State::gather_inputs() const {
  require_raw_ports();
  require_shapes();
  const SymbolSizes sizes = bind_known_shapes();
  require_memory(sizes);
  require_output_sizes(sizes);
  std::vector<Datum> data;
  data.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PortInfo& port = shared().inputs[i];
    const InputSlot& slot = inputs[i];
    if (!port.type.is_tensor()) {
      data.emplace_back();
      continue;
    }
    require_input_bytes(port, *slot.shape, slot.bytes);
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(slot.memory), slot.bytes);
    data.emplace_back(Tensor::share(port.type.dtype, *slot.shape, bytes, nullptr));
  }
  return data;
}

bool Context::State::has_all_shapes() const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (shared().inputs[i].type.is_tensor() && !inputs[i].shape) return false;
  bind_known_shapes();
  return true;
}

size_t Context::State::memory_size_for_shapes() const {
  return has_all_shapes() ? static_cast<size_t>(memory.need(input_shapes()).bytes) : 0;
}

MemoryUse Context::State::memory_use() const {
  if (!has_all_shapes()) return shared().memory_use();
  std::unique_lock lock(mutex);
  const std::shared_ptr<const Execution> current = execution;
  lock.unlock();
  return shared().memory_use(memory.need(input_shapes()), current->persistent_bytes());
}

void Context::State::begin(const void* wanted) {
  std::lock_guard lock(mutex);
  if (pending > 0 && (wanted == nullptr || stream != wanted))
    throw Error(invalid("context", name, "no pending inference elsewhere",
                        fmt::format("{} on a stream", pending),
                        "Synchronise that stream first, or use another context."));
  ++pending;
  ++stats.enqueued;
  stream = wanted;
}

void Context::State::require_idle() const {
  std::lock_guard lock(mutex);
  if (pending > 0)
    throw Error(invalid("context", name, "no pending inference", fmt::format("{} on a stream", pending),
                        "Synchronise the stream first."));
}

void Context::State::cancel_begin() {
  std::lock_guard lock(mutex);
  --pending;
  --stats.enqueued;
}

void Context::State::skip() {
  std::lock_guard lock(mutex);
  --pending;
  ++stats.skipped;
}

void Context::State::end(double seconds, bool completed) {
  --pending;
  ++(completed ? stats.completed : stats.failed);
  stats.busy_seconds += seconds;
  if (completed) stats.last_seconds = seconds;
}

void Context::State::follow_engine() {
  std::shared_ptr<const Program> now = debug_listener ? shared().debug_program() : shared().program.load();
  if (now == program) return;
  std::shared_ptr<Execution> next = now->start();
  if (profiling) next->set_profiling(true);
  const std::lock_guard lock(mutex);
  execution.swap(next);
  program = std::move(now);
}

void Context::State::set_profiling(bool on) {
  execution->set_profiling(on);
  profiling = on;
}

void Context::State::perform(std::span<const Datum> data, OutputSink& sink, const MemoryBlock& block,
                             bool keep_shapes) {
  const Stopwatch watch;
  const uint64_t held = memory.account()->bytes(MemoryPurpose::activation);
  try {
    const MemoryScope scope(memory.account(), MemoryPurpose::activation);
    follow_engine();
    execution->use_memory(block.bytes);
    if (debug_listener) {
      DebugSink debug_sink(*shared().debug, debug_listener, sink);
      execution->run(data, debug_sink);
    } else {
      execution->run(data, sink);
    }
  } catch (...) {
    ErrorParts parts = current_error().parts();
    parts.object = fmt::format("context '{}': {}", name, parts.object);
    Error named(std::move(parts));
    std::lock_guard lock(mutex);
    end(watch.seconds(), false);
    throw named;
  }
  log_growth(held);
  ++engine->state_->inferences;
  std::lock_guard lock(mutex);
  end(watch.seconds(), true);
  if (!keep_shapes) return;
  std::swap(result_shapes, running_shapes);
  has_result = true;
}

void Context::State::log_growth(uint64_t before) const {
  const uint64_t now = memory.account()->bytes(MemoryPurpose::activation);
  if (now <= before || !diagnostics.wants(LogLevel::info)) return;
  diagnostics.log(LogLevel::info, fmt::format("{}: memory grew by {} bytes to {}, beside a block of {}", name,
                                              now - before, now, memory.block_bytes()));
}

void Context::State::perform_bound(const Bindings& from) {
  BoundOutputs sink(shared(), from, running_shapes);
  perform(from.inputs, sink, from.memory, true);
}

}  // namespace ingot
