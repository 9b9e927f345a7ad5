#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/graph.h"

namespace ingot {

struct Pass {
  std::string_view name;  // as on the command line: "fold_constants"
  Graph (*run)(const Graph&);
  bool optional = true;  // may be switched off
};

// All passes in the order they run; a name may occur more than once.
std::span<const Pass> pipeline();

struct PassTime {
  std::string_view name;
  std::chrono::nanoseconds time;
  size_t nodes_before;
  size_t nodes_after;  // of the main graph
};

struct PipelineOptions {
  std::set<std::string, std::less<>> disabled = {};  // names of passes to skip, each time
  bool verify_each = false;                          // run the verifier after each pass
  // Called after each pass that ran; may throw to stop.
  std::function<void(const PassTime&, const Graph&)> after = {};
};

// Throws Error(invalid_argument) for a disabled pass that does not exist or is not optional, naming those
// that may be switched off.
Graph run_pipeline(Graph graph, const PipelineOptions& options = {});

}  // namespace ingot
