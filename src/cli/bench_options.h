#pragma once

#include <string>
#include <vector>

#include "ingot/profile.h"

namespace ingot::cli {

class Arguments;
class EngineRun;

// The options of `ingot bench` that are not those of a run. Names and meanings are trtexec's where it has
// them; every name is accepted in camel case too.
struct BenchOptions {
  std::string engine, onnx, save_engine, load_engine;
  std::string shapes, min_shapes, opt_shapes, max_shapes;
  std::string load_inputs;
  int64_t iterations = 10;
  int64_t duration = 3;   // seconds
  int64_t warm_up = 200;  // milliseconds
  int64_t streams = 1;
  int64_t average_runs = 0;
  std::string percentiles = "90,95,99";
  std::string export_times;
  std::string export_profile;
  bool dump_profile = false;
  bool dump_layer_info = false;
  bool compare_onnxruntime = false;
  bool verbose = false;
  bool json = false;

  void declare(Arguments& arguments);
  // Throws UsageError for options that contradict each other; fills in what follows from others.
  void check();
  bool wants_steps() const { return dump_profile || dump_layer_info || !export_profile.empty(); }
  // Where the options name shapes to build for: one profile, else none.
  std::vector<Profile> profiles() const;
  // Hands shapes and files of inputs to the run.
  void apply_inputs(EngineRun& run) const;
};

}  // namespace ingot::cli
