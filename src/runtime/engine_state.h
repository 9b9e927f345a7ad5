#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "base/memory_account.h"
#include "device/device.h"
#include "ingot/runtime.h"
#include "runtime/debug.h"
#include "runtime/engine_weights.h"
#include "runtime/shared_program.h"

namespace ingot {

// All of it is set before an application sees the engine, but for the counters and what follows from weights.
struct Engine::State {
  std::string name;
  std::string identity;  // digest of the file, or of what became of it
  std::string device;
  std::string producer;
  std::map<std::string, std::string> metadata;
  std::vector<Profile> profiles;
  std::vector<PortInfo> inputs;
  std::vector<PortInfo> outputs;
  std::vector<IgnoredSetting> ignored_settings;
  std::unique_ptr<DebugTensors> debug;  // null: it has none
  std::string missing_weights;          // what the engine was opened without, for messages; else empty
  SharedProgram program;                // null while weights are missing
  EngineWeights weights;
  Diagnostics diagnostics;
  EngineStats fixed;  // without the counters below
  std::atomic<uint64_t> contexts_created = 0;
  std::atomic<uint64_t> inferences = 0;
  mutable std::atomic<uint64_t> contexts_alive = 0;  // with those that inferences under way keep
  std::shared_ptr<MemoryAccount> memory;
  AllocationStrategy allocation = AllocationStrategy::fixed;  // of contexts that do not choose

  // Throws where the engine was not opened for it.
  WeightStreaming weight_streaming() const;
  void set_weight_streaming_budget(uint64_t bytes) const;
  // Of the weights at hand; compiled at the first call.
  std::shared_ptr<const Program> debug_program() const;
  void require_weights() const;  // throws while they are deferred

  // What contexts of a profile compute in, or of all profiles, at most. None where a size has no upper bound.
  // Found out at the first call. Not while weights are missing.
  std::optional<MemoryNeed> memory_need(size_t profile) const;
  std::optional<MemoryNeed> memory_need() const;
  // For the largest shapes; where a size has no upper bound, for those that came so far.
  MemoryUse memory_use() const;
  MemoryUse memory_use(const MemoryNeed& need, size_t persistent_bytes) const;

 private:
  std::optional<MemoryNeed> find_memory_need(size_t profile) const;

  mutable std::mutex needs_mutex_;                                       // guards all below
  mutable std::vector<std::optional<std::optional<MemoryNeed>>> needs_;  // by profile
};

// For engines that wait for their weights.
[[noreturn]] void fail_stripped(const Engine::State& engine);

}  // namespace ingot
