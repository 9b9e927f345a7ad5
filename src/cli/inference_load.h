#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ingot/runtime.h"

namespace ingot::cli {

// One inference of a measurement.
struct Sample {
  int stream = 0;
  double start = 0;  // seconds since the first one began
  double seconds = 0;
};

// How long to go on: until both are reached.
struct LoadLimits {
  int64_t iterations = 0;  // of all streams together
  double seconds = 0;
};

// Runs an engine from `streams` threads at once, each with a context of its own, on the same inputs.
class InferenceLoad {
 public:
  InferenceLoad(std::shared_ptr<const Engine> engine, const std::map<std::string, Datum>& inputs,
                int streams);

  // What these runs took; times start at 0 each time. The first error of any stream is thrown.
  std::vector<Sample> run(const LoadLimits& limits);
  Context& first_context() { return *contexts_[0]; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Progress;
  void run_stream(int stream, const LoadLimits& limits, Progress& progress);

  const std::map<std::string, Datum>& inputs_;
  std::vector<std::unique_ptr<Context>> contexts_;
};

}  // namespace ingot::cli
