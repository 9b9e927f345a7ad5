#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/engine_run.h"
#include "cli/inference_load.h"

namespace ingot::cli {

// The same work in ONNX Runtime.
struct OnnxRuntimeResult {
  std::string version;
  double load = 0, first_run = 0;
  std::vector<double> seconds;  // of the measured runs
  double relative_error = 0;    // of our outputs against its
};

// What `ingot bench` measured; times in seconds.
struct BenchResult {
  std::optional<double> import_seconds, build_seconds;  // with a model
  double first_run = 0;
  int streams = 1;
  std::vector<double> percentiles;  // to report
  std::vector<Sample> samples;
  std::optional<ExecutionProfile> profile;  // of the first stream, where it was asked for
  std::optional<OnnxRuntimeResult> onnxruntime;
};

double throughput(const std::vector<Sample>& samples);  // inferences per second

std::string bench_text(const EngineRun& run, const BenchResult& result);
nlohmann::ordered_json bench_json(const EngineRun& run, const BenchResult& result);
// Lines with the mean of every `count` samples in turn.
std::string average_lines(const std::vector<Sample>& samples, size_t count);
nlohmann::ordered_json samples_json(const std::vector<Sample>& samples);

}  // namespace ingot::cli
