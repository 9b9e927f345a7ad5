#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/cpu_count.h"
#include "base/stopwatch.h"
#include "cli/arguments.h"
#include "cli/bench_options.h"
#include "cli/bench_report.h"
#include "cli/command.h"
#include "cli/onnxruntime_peer.h"
#include "cli/output.h"
#include "cli/profile_report.h"
#include "cli/scratch_folder.h"
#include "cli/timings.h"
#include "cli/values.h"
#include "ingot/builder.h"
#include "ingot/import.h"

namespace ingot::cli {
namespace {

constexpr double kTurnSeconds = 0.25;  // of one engine, before the other's

class BenchCommand : public Command {
 public:
  ManualPage manual() const override {
    return {
        .name = "bench",
        .summary = "measure how long an engine takes",
        .description =
            "Opens ENGINE, or builds one from an ONNX model, runs it on one set of inputs and prints the "
            "phases "
            "apart: import, build, load with the compilation for the device, the first run, and the "
            "distribution "
            "of the runs after the warm-up. Times are wall-clock and include handing over the outputs. The "
            "SHA-256 digests of the outputs show whether two measurements computed the same.\n\nThe options "
            "have "
            "the names and meanings of NVIDIA's trtexec where it has them, in kebab case or in camel case. "
            "The "
            "last line is PASSED or FAILED.",
        .example =
            "ingot bench model.ingot --shapes image:8x3x224x224 --threads 2\n"
            "ingot bench --onnx model.onnx --iterations 100 --compare-onnxruntime",
        .exit_codes = "0 passed, 1 failed, 2 wrong usage"};
  }

  void declare(Arguments& a) override {
    options_.declare(a);
    run_.declare_run(a);
  }

  int run(Logger& logger) override {
    StderrLogger verbose(LogLevel::verbose);
    try {
      measure(options_.verbose ? verbose : logger);
    } catch (const Error&) {
      if (!options_.json) print_text("FAILED\n");
      throw;
    }
    return kSuccess;
  }

 private:
  void measure(Logger& logger) {
    options_.check();
    result_.percentiles = parse_percentiles("--percentile", options_.percentiles);
    result_.streams = static_cast<int>(options_.streams);
    open(logger);
    result_.first_run = run_.run();
    if (options_.compare_onnxruntime)
      measure_in_turns();
    else
      measure_alone();
    run_.save_cache(logger);
    if (!options_.export_times.empty()) write_json(options_.export_times, samples_json(result_.samples));
    if (!options_.export_profile.empty()) write_json(options_.export_profile, profile_json(*result_.profile));
    print();
  }

  void open(Logger& logger) {
    options_.apply_inputs(run_);
    ScratchFolder folder;  // the file may go once it is mapped
    if (options_.onnx.empty())
      run_.set_path(options_.load_engine);
    else
      run_.set_path(
          build(options_.save_engine.empty() ? folder.file("bench.ingot") : options_.save_engine, logger));
    run_.open(logger);
  }

  std::string build(const std::string& path, Logger& logger) {
    BuilderConfig config;
    config.profiles = options_.profiles();
    config.logger = &logger;
    config.recorder = std::make_shared<ErrorRecorder>();  // errors are printed once, by the program
    const Stopwatch import_watch;
    const Graph graph = import_onnx(options_.onnx);
    result_.import_seconds = import_watch.seconds();
    const Stopwatch build_watch;
    build_engine_file(graph, path, config);
    result_.build_seconds = build_watch.seconds();
    return path;
  }

  LoadLimits warm_up() const {
    return {.iterations = 0, .seconds = static_cast<double>(options_.warm_up) / 1e3};
  }

  void measure_alone() {
    InferenceLoad load(run_.engine().shared_from_this(), run_.inputs(), result_.streams);
    load.run(warm_up());
    load.first_context().set_profiling(options_.wants_steps());
    result_.samples =
        load.run({.iterations = options_.iterations, .seconds = static_cast<double>(options_.duration)});
    if (options_.wants_steps()) result_.profile = load.first_context().execution_profile();
  }

  // Short turns, so that what else the machine does meets both.
  void measure_in_turns() {
    const int threads = run_.threads() > 0 ? run_.threads() : available_cpus();
    OnnxRuntimePeer peer(options_.onnx, run_.inputs(), threads);
    OnnxRuntimeResult theirs{.version = peer.version(),
                             .load = peer.load_seconds(),
                             .first_run = peer.first_seconds(),
                             .seconds = {},
                             .relative_error = peer.relative_error(run_.outputs())};
    InferenceLoad load(run_.engine().shared_from_this(), run_.inputs(), 1);
    load.run(warm_up());
    load.first_context().set_profiling(options_.wants_steps());
    int64_t turn = turn_length(peer.run(2));
    const Stopwatch watch;
    while (std::ssize(result_.samples) < options_.iterations ||
           std::ssize(theirs.seconds) < options_.iterations ||
           watch.seconds() < static_cast<double>(options_.duration)) {
      const double start = watch.seconds();
      for (Sample sample : load.run({.iterations = 1, .seconds = kTurnSeconds})) {
        sample.start += start;
        result_.samples.push_back(sample);
      }
      const std::vector<double> seconds = peer.run(turn);
      theirs.seconds.insert(theirs.seconds.end(), seconds.begin(), seconds.end());
      turn = turn_length(seconds);
    }
    result_.onnxruntime = std::move(theirs);
    if (options_.wants_steps()) result_.profile = load.first_context().execution_profile();
  }

  static int64_t turn_length(const std::vector<double>& seconds) {
    return std::max<int64_t>(1, static_cast<int64_t>(kTurnSeconds / summarize(seconds).p50));
  }

  static void write_json(const std::string& path, const nlohmann::ordered_json& json) {
    AtomicFile file(path, "file of times");
    file.append(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    file.commit();
  }

  void print() const {
    if (options_.json) return print_json(bench_json(run_, result_));
    std::string text = bench_text(run_, result_);
    if (options_.average_runs > 0)
      text += average_lines(result_.samples, static_cast<size_t>(options_.average_runs));
    if (options_.dump_layer_info) text += steps_text(*result_.profile);
    if (options_.dump_profile) text += profile_text(*result_.profile);
    print_text(text + "PASSED\n");
  }

  BenchOptions options_;
  EngineRun run_;
  BenchResult result_;
};

}  // namespace

std::unique_ptr<Command> bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace ingot::cli
