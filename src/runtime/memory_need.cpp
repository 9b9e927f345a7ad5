#include "runtime/engine_state.h"
#include "runtime/ports.h"

namespace ingot {
namespace {

// Where in the range of a profile.
using Corner = Shape ShapeRange::*;

// Whether neither profile nor graph bounds all sizes.
bool is_open(const Type& type, const Shape& largest) {
  if (largest.empty()) return !known_shape(type);
  return std::ranges::any_of(largest, [](int64_t size) { return size >= Dim::kMax; });
}

std::optional<std::vector<std::optional<Shape>>> shapes_at(const Engine::State& engine, size_t profile,
                                                           Corner corner) {
  std::vector<std::optional<Shape>> shapes;
  for (const PortInfo& input : engine.inputs) {
    std::optional<Shape> shape;
    if (input.type.is_tensor()) {
      shape = known_shape(input.type);
      if (!shape && profile < input.ranges.size()) shape = input.ranges[profile].*corner;
      if (!shape || is_open(input.type, *shape)) return std::nullopt;
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

bool is_static(const Engine::State& engine) {
  return std::ranges::all_of(engine.inputs,
                             [](const PortInfo& p) { return !p.type.is_tensor() || known_shape(p.type); });
}

void raise(MemoryNeed& most, const MemoryNeed& need) {
  const bool is_complete = most.is_complete && need.is_complete;
  if (need.bytes > most.bytes) most = need;
  most.is_complete = is_complete;
}

}  // namespace

// The largest shapes need most but for rare exceptions, where other kernels suit smaller ones; those that are
// meant to be usual are looked at too.
std::optional<MemoryNeed> Engine::State::find_memory_need(size_t profile) const {
  MemoryNeed most;
  std::vector<Corner> corners = {&ShapeRange::max};
  if (!is_static(*this)) corners.push_back(&ShapeRange::opt);
  for (const Corner corner : corners) {
    const auto shapes = shapes_at(*this, profile, corner);
    if (!shapes) return std::nullopt;
    raise(most, program->memory_need(*shapes));
  }
  return most;
}

std::optional<MemoryNeed> Engine::State::memory_need(size_t profile) const {
  const std::lock_guard lock(needs_mutex_);
  needs_.resize(std::max<size_t>(1, profiles.size()));
  auto& need = needs_.at(profile);
  if (!need) need = find_memory_need(profile);
  return *need;
}

MemoryUse Engine::State::memory_use() const {
  const ProgramStats stats = program->stats();
  const MemoryNeed so_far{.bytes = stats.arena_bytes,
                          .least_bytes = stats.arena_least_bytes,
                          .scratch_bytes = stats.scratch_bytes,
                          .value_bytes = stats.value_bytes};
  return memory_use(memory_need().value_or(so_far), program->start()->persistent_bytes());
}

MemoryUse Engine::State::memory_use(const MemoryNeed& need, size_t persistent_bytes) const {
  const auto packed = static_cast<uint64_t>(program->stats().packed_bytes);
  return {.host_persistent = persistent_bytes,
          .scratch = static_cast<uint64_t>(need.scratch_bytes),
          .activation = static_cast<uint64_t>(need.value_bytes),
          .weights = fixed.weight_bytes + packed};
}

std::optional<MemoryNeed> Engine::State::memory_need() const {
  MemoryNeed most;
  for (size_t profile = 0; profile < std::max<size_t>(1, profiles.size()); ++profile) {
    const std::optional<MemoryNeed> need = memory_need(profile);
    if (!need) return std::nullopt;
    raise(most, *need);
  }
  return most;
}

}  // namespace ingot
