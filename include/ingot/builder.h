#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/export.h"
#include "ingot/graph.h"
#include "ingot/memory.h"
#include "ingot/profile.h"
#include "ingot/refit_mode.h"

// The ahead-of-time half: a graph becomes an engine file, which any machine can open.
//
//   Graph graph = import_onnx("detector.onnx");
//   BuilderConfig config;
//   config.profiles = {{"camera", {}, {{"batch", {1, 4, 16}}}}};
//   BuildReport report = build_engine_file(graph, "detector.ingot", config);
//
// An engine depends on the graph and on what is marked below as part of the engine, on nothing else: not on
// the host, the time, the locale or the number of threads. Equal inputs give equal bytes.
namespace ingot {

class ErrorRecorder;
class Logger;

// Watches a build and may stop it. Phases nest: "build" holds "passes", "weights" and "write". Called on the
// thread that called the builder; must not throw.
class INGOT_API ProgressMonitor {
 public:
  virtual ~ProgressMonitor();
  // `parent` is empty for the outermost phase; `steps` is how many calls of step() follow at most.
  virtual void phase_start(std::string_view phase, std::string_view parent, int64_t steps) = 0;
  // `done` steps are finished. False asks the build to stop with Error(cancelled).
  virtual bool step(std::string_view phase, int64_t done) = 0;
  // Also called for phases that are open when a build fails or stops.
  virtual void phase_finish(std::string_view phase) = 0;
};

struct BuilderConfig {
  // Part of the engine. Without profiles it takes every shape that the graph allows; with several, every
  // shape that one of them allows.
  std::vector<Profile> profiles;
  // Part of the engine. Names for dimensions of inputs, one for each dimension, empty to leave it as it is.
  // Dimensions of one name have one size.
  std::map<std::string, std::vector<std::string>> dimension_names;
  // Part of the engine. Leaves out constants above 1,024 bytes: their names and SHA-256 stay, and such an
  // engine cannot run before it gets them back.
  bool strip_weights = false;
  // Part of the engine. Weights that can be replaced later (ingot/weights.h): tensors of floating point or
  // quantised elements of rank 1 and up, and the scales and zero points of quantisation, by their name in the
  // model. Nothing is computed from them at build time, so a pattern that looks at their content is not
  // found.
  RefitMode refit = RefitMode::none;
  // Part of the engine. individual: exactly these; whole and identical: these too, such as a scalar.
  std::set<std::string, std::less<>> refit_weights;
  // Part of the engine. Devices it is meant for, most wanted first: "reference", "cpu", "cuda" (which is
  // compute capability 8.0 and later), or one of "cuda:sm75", "cuda:sm80", "cuda:sm86", "cuda:sm89",
  // "cuda:sm90", "cuda:sm100", "cuda:sm120". A type that one of them cannot compute with, as f8e4m3fn before
  // sm89, is Error(unsupported). Any device may still open the engine.
  std::vector<std::string> targets = {"cpu", "reference"};
  // Part of the engine, since it changes the graph. Names of passes to skip.
  std::set<std::string, std::less<>> disabled_passes;

  // Part of the engine. Names of outputs that are not results but values to look at: an engine does not list
  // or compute them unless a context has a listener (Context::set_debug_listener()). What passes may fuse
  // with them is less.
  std::vector<std::string> debug_tensors;

  // Called after each pass that ran, with the graph that it gave. May throw to stop.
  std::function<void(std::string_view pass, const Graph& graph)> on_pass;
  // Verifies the graph after each pass rather than at the end only.
  bool verify_each_pass = false;
  ProgressMonitor* progress = nullptr;  // not owned
  Logger* logger = nullptr;             // not owned; told of errors where there is no recorder
  std::shared_ptr<ErrorRecorder> recorder;
  // Bytes of memory that the build may need by its own estimate; 0: no limit.
  uint64_t memory_limit = 0;
  std::shared_ptr<Allocator> allocator;  // of constants that the build makes; null: the C++ heap
  int threads = 0;                       // 0: as many as this process may use
};

struct BuildPhase {
  std::string name;
  std::chrono::nanoseconds time{};
  // Resident memory of the process in bytes, at the end of the phase and the highest until then; 0 for
  // passes.
  uint64_t memory = 0;
  uint64_t peak_memory = 0;
};

struct BuildReport {
  std::vector<BuildPhase> phases;  // in order; passes as "pass NAME"
  std::chrono::nanoseconds time{};
  // Highest resident memory of the process until the end of the build, in bytes; pages of the mapped model
  // file count. What the process held before the build is in `start_memory`.
  uint64_t peak_memory = 0;
  uint64_t start_memory = 0;
  uint64_t peak_allocated = 0;  // most that constants made by the build took at once, from its allocator
  size_t nodes_before = 0;      // of the main graph
  size_t nodes_after = 0;
  uint64_t weight_bytes = 0;  // constants above 1,024 bytes, equal ones counted once
  uint64_t file_bytes = 0;
  std::string digest;  // 64 hexadecimal digits: equal for equal engines; what `inspect` shows
};

// Builds and publishes the file; on any error, and when cancelled, nothing is left behind and a file that was
// there before stays. Throws Error: invalid_argument (the config or the graph; names the field), cancelled,
// out_of_memory (the limit), device (the disk). Thread-safe.
INGOT_API BuildReport build_engine_file(const Graph& graph, const std::string& path,
                                        const BuilderConfig& config = {});

// The same in memory. `report` may be null.
INGOT_API std::vector<std::byte> build_engine(const Graph& graph, const BuilderConfig& config = {},
                                              BuildReport* report = nullptr);

}  // namespace ingot
