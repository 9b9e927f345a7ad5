#include <algorithm>

#include "base/reported.h"
#include "engine/header.h"
#include "ingot/error.h"
#include "ingot/runtime.h"
#include "runtime/engine_image.h"
#include "runtime/engine_state.h"

namespace ingot {
namespace {

[[noreturn]] void refuse(ErrorCode code, const Engine::State& engine, std::string expected,
                         std::string observed, std::string remedy) {
  throw Error({.code = code,
               .object = "deferred weights of engine",
               .name = engine.name,
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

void require_deferred(const Engine::State& engine) {
  if (engine.weights.deferred) return;
  refuse(ErrorCode::invalid_argument, engine, "an engine whose weights are deferred",
         "one that was given its own",
         "Load weights once, after opening with OpenOptions::defer_weights; a Refitter replaces them.");
}

// Header and digests of both sections.
void require_same_engine(const Engine::State& engine, std::span<const std::byte> start) {
  const auto own = engine.weights.image.start.first(kMetadataOffset);
  if (std::ranges::equal(own, start)) return;
  refuse(
      ErrorCode::incompatible, engine, fmt::format("the engine with digest {}", engine.identity),
      start.size() < kMetadataOffset ? fmt::format("{} bytes", start.size()) : to_hex(engine_digest(start)),
      "Take the weights from the file that was opened, or a copy of it.");
}

// Everything that may fail comes first.
void finish(Engine::State& engine, EngineImage image) {
  EngineWeights& weights = engine.weights;
  EngineContent content = read_engine(pieces_of(image, false), engine.name);
  auto graph = std::make_shared<const Graph>(std::move(content.graph));
  std::shared_ptr<const Program> program = weights.compile(graph, engine.identity, false);
  content.graph = {};
  weights.graph = std::move(graph);
  weights.content = std::move(content);
  weights.image = std::move(image);
  engine.program = std::move(program);
  weights.deferred = false;
}

}  // namespace

void Engine::load_weights() const {
  reported(state_->diagnostics, [&] {
    const std::lock_guard lock(state_->weights.mutex);
    const MemoryScope scope(state_->memory, MemoryPurpose::weights);
    require_deferred(*state_);
    const EngineImage& image = state_->weights.image;
    if (image.weights.empty() && state_->fixed.weight_bytes > 0)
      refuse(ErrorCode::invalid_argument, *state_, "an engine opened from a file or from memory",
             "one opened from a reader", "Give load_weights() a reader.");
    finish(*state_, image);
  });
}

void Engine::load_weights(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) const {
  reported(state_->diagnostics, [&] {
    const std::lock_guard lock(state_->weights.mutex);
    const MemoryScope scope(state_->memory, MemoryPurpose::weights);
    require_deferred(*state_);
    require_same_engine(*state_, bytes.first(std::min(bytes.size(), kMetadataOffset)));
    const EngineImage given = image_of(bytes, std::move(owner), state_->name);
    verify_weights(given.start, given.weights, state_->name);
    EngineImage image = state_->weights.image;
    image.weights = given.weights;
    image.weights_owner = given.weights_owner;
    finish(*state_, std::move(image));
  });
}

void Engine::load_weights(EngineReader& reader) const {
  reported(state_->diagnostics, [&] {
    const std::lock_guard lock(state_->weights.mutex);
    const MemoryScope scope(state_->memory, MemoryPurpose::weights);
    require_deferred(*state_);
    EngineImage image = state_->weights.image;
    require_same_engine(*state_, read_start(reader, state_->name));
    read_weights(reader, state_->name, image);
    finish(*state_, std::move(image));
  });
}

}  // namespace ingot
