#include "ingot/error.h"
#include "runtime/outputs.h"
#include "runtime/ports.h"
#include "runtime/profile_choice.h"
#include "runtime/stream_state.h"
#include "runtime/use.h"

namespace ingot {
namespace {

[[noreturn]] void refuse(std::string object, std::string name, std::string expected, std::string observed,
                         std::string remedy = {}) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = std::move(object),
               .name = std::move(name),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

void require_raw(const PortInfo& port, std::string_view kind) {
  if (!has_raw_bytes(port.type))
    refuse(std::string(kind), port.name, "a tensor of numbers", to_string(port.type), "Use run() for it.");
}

void require_types(const Engine::State& engine, const std::vector<Datum>& data) {
  SymbolBinder binder;
  for (size_t i = 0; i < data.size(); ++i) binder.bind(engine.inputs[i].name, engine.inputs[i].type, data[i]);
  binder.finish();
}

// The data of run() in the order of the graph. Throws for a name too many or too few.
std::vector<Datum> order_inputs(const Engine::State& engine, const std::map<std::string, Datum>& inputs) {
  for (const auto& [name, datum] : inputs) find_port(engine.inputs, "input", name);
  std::vector<Datum> data;
  for (const PortInfo& port : engine.inputs) {
    auto found = inputs.find(port.name);
    if (found == inputs.end() && port.type.kind != Type::Kind::optional)
      refuse("input", port.name, to_string(port.type), "no data for it");
    data.push_back(found == inputs.end() ? Datum() : found->second);
  }
  return data;
}

// A tensor of any type could have the shape.
void require_possible(const PortInfo& input, const Shape& shape) {
  try {
    element_count(shape);
  } catch (const Error& e) {
    refuse("input", input.name, e.parts().expected, e.parts().observed,
           "Set the shape of the memory to read.");
  }
}

std::vector<std::optional<Shape>> shapes_of(const std::vector<Datum>& data) {
  std::vector<std::optional<Shape>> shapes;
  for (const Datum& datum : data)
    shapes.push_back(datum.is_tensor() ? std::optional(datum.tensor().shape()) : std::nullopt);
  return shapes;
}

void log_enqueued(const Context::State& state) {
  const Diagnostics& log = state.diagnostics;
  if (!log.wants(LogLevel::verbose)) return;
  std::string inputs;
  for (size_t i = 0; i < state.inputs.size(); ++i)
    if (state.inputs[i].shape)
      inputs += fmt::format(" {} {}", state.shared().inputs[i].name, to_string(*state.inputs[i].shape));
  log.log(LogLevel::verbose, fmt::format("{}: enqueued an inference of '{}' with{}", state.name,
                                         state.shared().name, inputs.empty() ? " no input" : inputs));
}

void queue_inference(auto& queue, const InferenceWork& inference) {
  try {
    queue.push(inference);
  } catch (...) {
    inference.context->cancel_begin();
    throw;
  }
}

}  // namespace

Context::Context(std::shared_ptr<State> state) : state_(std::move(state)) {}
Context::~Context() = default;

const std::string& Context::name() const { return state_->name; }
const Engine& Context::engine() const { return *state_->engine; }

ContextStats Context::stats() const {
  std::lock_guard lock(state_->mutex);
  ContextStats stats = state_->stats;
  stats.memory_bytes = state_->memory.bytes();
  return stats;
}

void Context::set_profiling(bool on) {
  Use::of(*state_, [&] {
    state_->require_idle();
    state_->set_profiling(on);
  });
}

ExecutionProfile Context::execution_profile() const {
  return Use::of(*state_, [&] {
    state_->require_idle();
    return state_->execution->profile();
  });
}

void Context::set_debug_listener(DebugListener listener) {
  Use::of(*state_, [&] { state_->listen(std::move(listener)); });
}

void Context::set_profile(size_t profile) {
  Use::of(*state_, [&] {
    const size_t count = state_->shared().profiles.size();
    if (profile >= std::max<size_t>(count, 1))
      refuse("context", name(), fmt::format("one of {} profiles, counted from 0", count),
             fmt::format("{}", profile), "Engine::profiles() lists them.");
    state_->change_profile(profile);
    state_->chooses_profile = false;
    state_->forget_shapes();
  });
}

void Context::set_automatic_profile() {
  Use::of(*state_, [&] {
    state_->chooses_profile = true;
    state_->forget_shapes();
  });
}

size_t Context::profile() const {
  return Use::of(*state_, [&] {
    state_->follow_shapes();
    return state_->profile;
  });
}

void Context::set_memory(void* memory, size_t bytes) {
  Use::of(*state_, [&] {
    const size_t needed = memory ? state_->memory_size_for_shapes() : 0;
    state_->memory.set(memory, bytes, needed);
    state_->bound = nullptr;
  });
}

MemoryUse Context::memory_use() const {
  return Use::of(*state_, [&] { return state_->memory_use(); });
}

size_t Context::memory_size_for_shapes() const {
  return Use::of(*state_, [&] { return state_->memory_size_for_shapes(); });
}

void Context::set_shape(std::string_view input, Shape shape) {
  Use::of(*state_, [&] {
    const Engine::State& engine = state_->shared();
    const size_t index = find_port(engine.inputs, "input", input);
    const PortInfo& port = engine.inputs[index];
    if (!port.type.is_tensor())
      refuse("input", port.name, "a tensor", to_string(port.type), "Use run() for it.");
    require_possible(port, shape);
    if (port.type.dims) {
      SymbolBinder alone;
      alone.bind_shape(port.name, *port.type.dims, shape);
      alone.finish();
    }
    if (state_->chooses_profile)
      require_allowed_by_any(engine, port, shape);
    else
      require_allowed(engine, port, state_->profile, shape);
    state_->bound = nullptr;
    state_->inputs[index].shape = std::move(shape);
  });
}

std::optional<Shape> Context::shape(std::string_view name) const {
  return Use::of(*state_, [&] { return state_->shape_of(name); });
}

size_t Context::required_bytes(std::string_view name) const {
  return Use::of(*state_, [&] {
    const PortInfo& port = state_->port(name);
    require_raw(port, "input or output");
    std::optional<Shape> shape = state_->shape_of(name);
    if (!shape)
      refuse("input or output", port.name, "a known shape", to_string(port.type),
             "Set the shapes of all inputs; where only running can tell, use an output allocator.");
    return byte_size(port.type.dtype, element_count(*shape));
  });
}

void Context::bind_input(std::string_view name, const void* memory, size_t bytes) {
  Use::of(*state_, [&] {
    const Engine::State& engine = state_->shared();
    const size_t index = find_port(engine.inputs, "input", name);
    const PortInfo& port = engine.inputs[index];
    InputSlot& slot = state_->inputs[index];
    require_raw(port, "input");
    require_address(port, "input", memory, bytes);
    require_aligned(port, "input", memory);
    std::optional<Shape> fixed = known_shape(port.type);
    if (memory && fixed) require_input_bytes(port, *fixed, bytes);
    state_->bound = nullptr;
    slot.memory = memory;
    slot.bytes = memory ? bytes : 0;
  });
}

void Context::bind_output(std::string_view name, void* memory, size_t bytes) {
  Use::of(*state_, [&] {
    const Engine::State& engine = state_->shared();
    const size_t index = find_port(engine.outputs, "output", name);
    const PortInfo& port = engine.outputs[index];
    require_raw(port, "output");
    require_address(port, "output", memory, bytes);
    require_aligned(port, "output", memory);
    std::optional<Shape> fixed = known_shape(port.type);
    if (memory && fixed) require_output_bytes(port, *fixed, bytes);
    state_->bound = nullptr;
    state_->outputs[index] = {.memory = memory, .bytes = memory ? bytes : 0, .allocator = nullptr};
  });
}

void Context::set_output_allocator(std::string_view output, OutputAllocator allocator) {
  Use::of(*state_, [&] {
    const Engine::State& engine = state_->shared();
    const size_t index = find_port(engine.outputs, "output", output);
    require_raw(engine.outputs[index], "output");
    state_->bound = nullptr;
    state_->outputs[index] = {.memory = nullptr, .bytes = 0, .allocator = std::move(allocator)};
  });
}

void Context::check_dtype(const PortInfo& port, DType dtype) const {
  reported(state_->diagnostics, [&] {
    if (port.type.dtype != dtype || !port.type.is_tensor())
      refuse("input or output", port.name, to_string(port.type),
             fmt::format("memory of {}", to_string(dtype)));
  });
}

void Context::set_input_consumed_event(std::optional<Event> event) {
  Use::of(*state_, [&] { state_->inputs_consumed = std::move(event); });
}

Shape Context::result_shape(std::string_view output) const {
  return Use::of(*state_, [&] {
    const size_t index = find_port(state_->shared().outputs, "output", output);
    std::lock_guard lock(state_->mutex);
    if (!state_->has_result)
      refuse("context", name(), "a completed inference", "none yet",
             "Enqueue one and synchronise the stream.");
    return state_->result_shapes[index];
  });
}

void Context::enqueue(Stream& stream) {
  Use::of(*state_, [&] {
    state_->shared().require_weights();
    Stream::State& queue = *stream.state_;
    queue.require_open();
    const auto consumed = state_->inputs_consumed ? queue.new_point() : nullptr;
    const InferenceWork inference{state_, state_->bindings(), consumed};
    state_->begin(queue.is_inline() ? nullptr : &queue);
    log_enqueued(*state_);
    if (!queue.is_inline()) queue_inference(queue, inference);
    if (consumed) state_->inputs_consumed->state_->set(consumed);
    if (queue.is_inline()) perform(inference);
  });
}

std::map<std::string, Datum> Context::run(const std::map<std::string, Datum>& inputs) {
  return Use::of(*state_, [&] {
    std::vector<Datum> data = order_inputs(state_->shared(), inputs);
    require_types(state_->shared(), data);
    state_->shared().require_weights();
    const std::vector<std::optional<Shape>> shapes = shapes_of(data);
    choose_profile(state_->shared(), shapes);
    const MemoryBlock memory = state_->memory.for_inference(shapes);
    state_->begin(nullptr);
    KeptOutputs sink(state_->shared().outputs);
    state_->perform(data, sink, memory, false);
    return sink.take();
  });
}

}  // namespace ingot
