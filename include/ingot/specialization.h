#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingot/tensor.h"

// When a device makes kernels for the shapes that it meets, and making them ahead:
// RuntimeConfig::specialization and Engine::prepare in runtime.h.
namespace ingot {

// What a new set of input shapes does on a device that makes kernels. Generic kernels run every shape and are
// ready when an engine opens; specialised ones fit the sizes better.
enum class SpecializationStrategy : uint8_t {
  lazy,  // generic ones answer at once; a thread of low priority makes better ones, used from a later call on
  eager,  // the call that meets new shapes waits for the best ones
  none,   // generic ones only: nothing is compiled after opening
};

// Shapes of all tensor inputs whose types leave a size open, by name.
using InputShapes = std::map<std::string, Shape>;

struct PrepareOptions {
  int threads = 0;  // to compile on; 0: all CPUs the process may use
  // Nothing new is begun after it; what was begun is finished.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // Called after each set of shapes, on the calling thread. False stops with Error(cancelled).
  std::function<bool(size_t done, size_t total)> progress;
};

struct PrepareReport {
  size_t prepared = 0;      // sets of shapes that will run their best kernels at once
  size_t without_plan = 0;  // of the others, those whose sizes depend on data: nothing to prepare
  uint64_t kernels_compiled = 0;
  uint64_t kernels_cached = 0;  // loaded instead
  bool deadline_reached = false;
  double seconds = 0;
};

}  // namespace ingot
