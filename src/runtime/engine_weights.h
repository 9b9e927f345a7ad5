#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>

#include "device/device.h"
#include "engine/engine_file.h"
#include "ingot/weights.h"
#include "runtime/engine_image.h"

namespace ingot {

// New content for constants: by the index of a node of the main graph, or by what a missing blob reads as.
struct NewConstants {
  std::map<int32_t, Tensor> by_node;
  std::map<const std::byte*, Tensor> by_blob;
};

// A weight that can be given, and where it goes: nodes, or a blob that the engine was stripped of.
struct WeightSlot {
  WeightInfo info;
  std::vector<int32_t> nodes;
  const std::byte* blob = nullptr;
};

// `placeholders`: constants are not what they will be.
using CompileGraph = std::function<std::shared_ptr<const Program>(
    std::shared_ptr<const Graph> graph, const std::string& identity, bool placeholders)>;

// What an engine computes with and how it came by it. `mutex` guards what is not constant; changes hold it
// from beginning to end.
struct EngineWeights {
  mutable std::mutex mutex;
  EngineImage image;
  EngineContent content;  // as read, but for the graph
  std::shared_ptr<const Graph> graph;
  std::atomic<bool> deferred = false;
  bool changed = false;  // the image is no longer what the graph says
  CompileGraph compile;

  std::vector<WeightSlot> slots() const;
};

// "stripped of 3 constants, 120000 bytes"
std::string describe_missing(const std::vector<MissingWeights>& missing);
// Of an engine whose weights are deferred: "2 that are deferred: 'a', 'b'"
std::string describe_deferred(const Graph& graph);

}  // namespace ingot
