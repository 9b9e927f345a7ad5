#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/memory_monitor.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/values.h"
#include "ingot/builder.h"
#include "ingot/import.h"
#include "ingot/runtime_cache.h"
#include "ir/print.h"
#include "passes/pipeline.h"

namespace ingot::cli {
namespace {

constexpr std::chrono::milliseconds kMemoryInterval{100};

class CompileCommand : public Command {
 public:
  ManualPage manual() const override {
    return {.name = "compile",
            .summary = "make an engine file from an ONNX model",
            .description =
                "Reads MODEL and the external data beside it, optimises the graph and writes one portable "
                "engine file. "
                "The file appears complete or not at all; equal inputs give equal bytes on every machine.\n\n"
                "Without --shape and --dim the engine takes every shape that the model allows. With them it "
                "takes the "
                "shapes between MIN and MAX and is made fast for OPT. Several profiles are told apart by "
                "'@PROFILE' "
                "after the value.\n\nProgress goes to standard error: a bar on a terminal, else one line a "
                "phase.",
            .example =
                "ingot compile detector.onnx -o detector.ingot --dim batch=1:4:16\n"
                "    An engine for 1 to 16 pictures at a time, best at 4.\n"
                "ingot compile m.onnx --shape x=1x64:8x64:8x64@small --shape x=9x64:32x64:64x64@large\n"
                "    Two profiles for the input x.",
            .exit_codes = "0 success, 1 failure, 2 wrong usage, 130 stopped by Ctrl-C"};
  }

  void declare(Arguments& a) override {
    a.positional("MODEL", model_, "The ONNX file.");
    a.option("-o,--output", "FILE", output_,
             "The engine file; default: the name of MODEL with the ending .ingot, in the current folder.");
    a.repeated("--shape", "NAME=MIN:OPT:MAX", shapes_,
               "Shapes of an input, as 1x3x224x224; one alone is fixed.");
    a.repeated("--dim", "NAME=MIN:OPT:MAX", dims_,
               "Sizes of a named dimension, for all inputs that have it.");
    a.flag(
        "--strip-weights,--stripWeights", config_.strip_weights,
        "Leave the weights out; the engine cannot run before 'ingot refit' or the application gives them.");
    a.flag("--refit", refit_all_, "Let all weights be replaced later; as --refit-mode whole.");
    a.option("--refit-mode", "MODE", refit_,
             "Which weights can be replaced later: none (the default), whole, individual, or identical: by "
             "the same content only.",
             {"none", "whole", "individual", "identical"});
    a.repeated("--refit-weight", "NAME", refit_weights_,
               "A weight that can be replaced; alone means --refit-mode individual.");
    a.repeated("--target", "DEVICE", targets_,
               "A device the engine is meant for; default: cpu and reference.");
    a.option("--prebuild", "cpu:LEVEL,...", prebuild_,
             "Also compile the kernels for these processors, which this machine need not be, into "
             "ENGINE.kernels: avx2, avx512, avx512-vnni, avx512-bf16, amx, x86-64-v3 or x86-64-v4.");
    a.repeated("--disable-pass", "PASS", disabled_, fmt::format("Skip a pass: {}.", pass_names(true)));
    a.repeated("--print-after", "PASS", print_after_,
               "Print the graph to standard error after a pass, or after 'all'.");
    a.flag("--verify-each", config_.verify_each_pass, "Check the graph after each pass.");
    a.option("--memory-limit", "BYTES", memory_limit_,
             "Give up when the build needs more, as 800000, 250M or 1.5G.");
    a.flag("--monitor-memory", monitor_memory_,
           "Print the resident memory, now and its peak, to standard error: at each phase and ten times a "
           "second.");
    a.option("--threads", "N", threads_, "Threads to use; default: all CPUs.", 1, 1024);
    a.flag("-q,--quiet", quiet_, "No progress and no summary.");
    a.flag("--json", json_, "Print the build report as JSON.");
  }

  int run(Logger& logger) override {
    configure(logger);
    const InterruptNote note;
    ProgressDisplay progress(ProgressDisplay::style_for_stderr(quiet_));
    std::optional<MemoryMonitor> memory;
    if (monitor_memory_) memory.emplace(progress, kMemoryInterval);
    ProgressMonitor& monitor = memory ? static_cast<ProgressMonitor&>(*memory) : progress;
    config_.progress = &monitor;
    monitor.phase_start("import", "", 1);
    const Graph graph = import_onnx(model_);
    monitor.phase_finish("import");
    const std::string path =
        output_.empty() ? std::filesystem::path(model_).stem().string() + ".ingot" : output_;
    const BuildReport report = build_engine_file(graph, path, config_);
    if (!prebuild_targets_.empty()) prebuild(path);
    if (json_)
      print_json(report_json(path, report));
    else if (!quiet_)
      print_text(fmt::format("{}: {}, {} of weights, {} nodes (from {}), built in {}\n", path,
                             format_bytes(report.file_bytes), format_bytes(report.weight_bytes),
                             report.nodes_after, report.nodes_before,
                             format_seconds(std::chrono::duration<double>(report.time).count())));
    return kSuccess;
  }

 private:
  // Of those that may be switched off, or of all.
  static std::string pass_names(bool optional) {
    std::vector<std::string_view> names;
    for (const Pass& p : pipeline())  // some run more than once
      if ((p.optional || !optional) && std::ranges::find(names, p.name) == names.end())
        names.push_back(p.name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  static void check_pass(std::string_view option, const std::string& name, bool optional) {
    for (const Pass& p : pipeline()) {
      if (p.name != name) continue;
      if (p.optional || !optional) return;
      throw UsageError(fmt::format("{}: the pass '{}' always runs", option, name));
    }
    throw UsageError(
        fmt::format("{}: there is no pass '{}'; there are {}", option, name, pass_names(optional)));
  }

  void configure(Logger& logger) {
    config_.profiles = parse_profiles(shapes_, dims_);
    config_.logger = &logger;
    config_.recorder = std::make_shared<ErrorRecorder>();  // errors are printed once, by the program
    config_.threads = static_cast<int>(threads_);
    if (!targets_.empty()) config_.targets = targets_;
    config_.refit = refit_mode();
    config_.refit_weights = {refit_weights_.begin(), refit_weights_.end()};
    if (!prebuild_.empty()) prebuild_targets_ = parse_list("--prebuild", prebuild_);
    if (!memory_limit_.empty()) config_.memory_limit = parse_byte_count("--memory-limit", memory_limit_);
    for (const std::string& name : disabled_) {
      check_pass("--disable-pass", name, true);
      config_.disabled_passes.insert(name);
    }
    for (const std::string& name : print_after_)
      if (name != "all") check_pass("--print-after", name, false);
    config_.on_pass = [this](std::string_view pass, const Graph& graph) { show_pass(pass, graph); };
  }

  RefitMode refit_mode() const {
    if (refit_all_ && !refit_.empty() && refit_ != "whole")
      throw UsageError(fmt::format("--refit means --refit-mode whole, found {} too", refit_));
    if (refit_ == "identical") return RefitMode::identical;
    if (refit_ == "individual") return RefitMode::individual;
    if (refit_all_ || refit_ == "whole") return RefitMode::whole;
    if (refit_ == "none" && !refit_weights_.empty())
      throw UsageError("--refit-weight: --refit-mode none replaces no weights");
    return refit_weights_.empty() ? RefitMode::none : RefitMode::individual;
  }

  void show_pass(std::string_view pass, const Graph& graph) const {
    for (const std::string& name : print_after_)
      if (name == "all" || name == pass) {
        const std::string text = print(graph, {.largest_list = 16, .largest_constant = 64});
        fprintf(stderr, "// after %.*s\n%s", static_cast<int>(pass.size()), pass.data(), text.c_str());
        return;
      }
  }

  // Beside the engine, replacing what an earlier engine left.
  void prebuild(const std::string& engine) const {
    RuntimeCache kernels(*config_.logger);
    prebuild_kernels(engine, prebuild_targets_, kernels, static_cast<int>(threads_));
    AtomicFile file(engine + ".kernels", "kernel file", AtomicFile::Temporary::nameless, 0644);
    file.append(kernels.serialize());
    file.commit();
  }

  static nlohmann::ordered_json report_json(const std::string& path, const BuildReport& report) {
    nlohmann::ordered_json phases = nlohmann::ordered_json::array();
    for (const BuildPhase& p : report.phases)
      phases.push_back({{"name", p.name},
                        {"seconds", std::chrono::duration<double>(p.time).count()},
                        {"memory_bytes", p.memory},
                        {"peak_memory_bytes", p.peak_memory}});
    return {{"engine", path},
            {"digest", report.digest},
            {"file_bytes", report.file_bytes},
            {"weight_bytes", report.weight_bytes},
            {"nodes_before", report.nodes_before},
            {"nodes_after", report.nodes_after},
            {"seconds", std::chrono::duration<double>(report.time).count()},
            {"peak_memory_bytes", report.peak_memory},
            {"start_memory_bytes", report.start_memory},
            {"peak_allocated_bytes", report.peak_allocated},
            {"phases", phases}};
  }

  std::string model_, output_, memory_limit_, prebuild_, refit_;
  std::vector<std::string> shapes_, dims_, targets_, prebuild_targets_, refit_weights_, disabled_,
      print_after_;
  BuilderConfig config_;
  int64_t threads_ = 0;
  bool quiet_ = false;
  bool json_ = false;
  bool monitor_memory_ = false;
  bool refit_all_ = false;
};

}  // namespace

std::unique_ptr<Command> compile_command() { return std::make_unique<CompileCommand>(); }

}  // namespace ingot::cli
