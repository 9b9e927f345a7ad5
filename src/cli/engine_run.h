#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ingot/runtime.h"

namespace ingot::cli {

class Arguments;

// What `exec` and `bench` share: an engine, opened on a device, and inputs for it.
class EngineRun {
 public:
  void declare(Arguments& arguments);      // all of it
  void declare_run(Arguments& arguments);  // all but the file of the engine
  // What the command line may have said in other words, before open().
  void set_path(std::string path) { path_ = std::move(path); }
  void add_shape(std::string text) { shape_texts_.push_back(std::move(text)); }       // NAME=SHAPE
  void add_input_file(std::string text) { input_texts_.push_back(std::move(text)); }  // NAME=FILE
  void use_random_inputs(int64_t seed);  // for those not given, unless a seed was
  void open(Logger& logger);
  void save_cache(Logger& logger) const;  // where a file for it was given; failing is no error

  const Engine& engine() const { return *engine_; }
  Context& context() { return *context_; }
  int threads() const { return static_cast<int>(threads_); }  // 0: all CPUs
  double load_seconds() const { return load_seconds_; }
  const std::map<std::string, Datum>& inputs() const { return inputs_; }
  // Runs once and keeps the outputs; returns the seconds it took.
  double run();
  const std::map<std::string, Datum>& outputs() const { return outputs_; }

  nlohmann::ordered_json inputs_json() const;
  std::string inputs_text() const;

 private:
  void open_cache(Logger& logger);
  void read_inputs();
  void read_input(const std::string& text);
  void read_archive(const std::string& path);
  void add_input(const std::string& name, Datum value, const std::string& source);
  void fill_with_random();
  void refuse_missing() const;

  std::string path_, device_, strategy_ = "lazy";
  std::vector<std::string> input_texts_, shape_texts_, dim_texts_;
  int64_t seed_ = -1;
  int64_t threads_ = 0;
  RuntimeConfig config_;
  std::string cache_file_;
  std::vector<std::string> kernel_files_;
  uint64_t kernels_loaded_ = 0;  // from cache_file_, if all of it was of use
  std::map<std::string, Shape> shapes_;
  std::map<std::string, int64_t> dims_;
  std::shared_ptr<const Engine> engine_;
  std::unique_ptr<Context> context_;
  double load_seconds_ = 0;
  std::map<std::string, Datum> inputs_, outputs_;
  std::map<std::string, std::string> sources_;  // where each input came from
};

// "f32[2, 3]", "2 tensors", "nothing"
std::string describe(const Datum& datum);
// {"dtype": ..., "shape": [...]}, or a list of these, or null.
nlohmann::ordered_json datum_json(const Datum& datum);

}  // namespace ingot::cli
