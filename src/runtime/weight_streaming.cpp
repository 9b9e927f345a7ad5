#include "runtime/weight_streaming.h"

#include <algorithm>

#include "base/available_memory.h"
#include "base/reported.h"
#include "ingot/error.h"
#include "runtime/engine_state.h"

namespace ingot {
namespace {

[[noreturn]] void refuse(const Engine::State& engine, std::string expected, std::string observed,
                         std::string remedy) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "weight streaming of engine",
               .name = engine.name,
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

}  // namespace

uint64_t automatic_budget(uint64_t streamable, uint64_t available, uint64_t others) {
  return std::min(streamable, available - std::min(available, others));
}

WeightStreaming Engine::State::weight_streaming() const {
  const auto streaming = program ? program->weight_streaming() : std::nullopt;
  if (!streaming)
    refuse(*this, "an engine opened with a budget", "one without",
           "Set RuntimeConfig::weight_streaming_budget, on a device that streams weights (cpu).");
  return *streaming;
}

void Engine::State::set_weight_streaming_budget(uint64_t bytes) const {
  (void)weight_streaming();
  if (const uint64_t contexts = contexts_alive; contexts > 0)
    refuse(*this, "no context", std::to_string(contexts),
           "Synchronise their streams and destroy them first.");
  program->set_weight_streaming_budget(bytes);
}

uint64_t Engine::streamable_weights_size() const {
  return reported(state_->diagnostics, [&] { return state_->weight_streaming().streamable_bytes; });
}

uint64_t Engine::weight_streaming_budget() const {
  return reported(state_->diagnostics, [&] { return state_->weight_streaming().budget; });
}

void Engine::set_weight_streaming_budget(uint64_t bytes) const {
  reported(state_->diagnostics, [&] { state_->set_weight_streaming_budget(bytes); });
}

uint64_t Engine::weight_streaming_automatic_budget() const {
  return reported(state_->diagnostics, [&] {
    const WeightStreaming streaming = state_->weight_streaming();
    const MemoryUse use = state_->memory_use();
    const uint64_t others = use.activation + use.scratch + streaming.scratch_bytes;
    return automatic_budget(streaming.streamable_bytes, available_memory(), others);
  });
}

uint64_t Engine::weight_streaming_scratch_size() const {
  return reported(state_->diagnostics, [&] { return state_->weight_streaming().scratch_bytes; });
}

}  // namespace ingot
