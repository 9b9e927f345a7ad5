#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/engine_run.h"
#include "cli/output.h"
#include "cli/profile_report.h"
#include "cli/timings.h"
#include "ingot/error.h"
#include "tensor_io/digest.h"
#include "tensor_io/npy.h"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;

// Names of outputs come from the model; a file name must not leave the folder or meet another.
std::string file_name(std::string name, std::set<std::string>& taken) {
  for (char& c : name)
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
  name = name.substr(0, 200);
  if (name.empty() || name[0] == '.') name.insert(0, "_");
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}_{}", name, i);
  return unique + ".npy";
}

class ExecCommand : public Command {
 public:
  ManualPage manual() const override {
    return {
        .name = "exec",
        .summary = "run an engine on inputs from files",
        .description =
            "Opens ENGINE, runs it and prints the shape and the SHA-256 of each output, and how long it "
            "took: the "
            "digest is that of the elements, row by row, so numpy.load(FILE).tobytes() has the same "
            "(types below a "
            "byte are packed first). With --output each output is written as NAME.npy, the tensors of a "
            "sequence "
            "as NAME.0.npy and so on; slashes in names become underscores. Types that NumPy lacks are "
            "written as "
            "the Python package ml_dtypes stores them: numpy.load(FILE).view(ml_dtypes.bfloat16).\n\n"
            "--profile and --trace measure the runs after the first, which prepares what they need, or the "
            "first "
            "where there is no other. A trace can be looked at in ui.perfetto.dev or chrome://tracing.",
        .example =
            "ingot exec detector.ingot --input image=bike.npy --output results\n"
            "ingot exec detector.ingot --random-seed 1 --dim batch=2 --runs 10 --json\n"
            "ingot exec detector.ingot --random-seed 1 --runs 20 --profile --trace detector.json"};
  }

  void declare(Arguments& a) override {
    run_.declare(a);
    a.option("-o,--output", "DIR", folder_, "Where to write the outputs; made if it is not there.");
    a.option("--runs", "N", runs_, "Run this often; times of the runs after the first are 'steady'.", 1,
             100000000);
    a.flag("--profile", profile_, "Also print what each step of the program took, the slowest first.");
    a.option("--trace", "FILE", trace_,
             "Write what ran when and on which thread, in the trace event format.");
    a.flag("--json", json_, "Print JSON, times in seconds.");
  }

  int run(Logger& logger) override {
    run_.open(logger);
    if (!folder_.empty()) make_folder();
    const bool measure_steps = profile_ || !trace_.empty();
    run_.context().set_profiling(measure_steps);
    const double first = run_.run();
    if (runs_ > 1) run_.context().set_profiling(measure_steps);  // forgets the first
    std::vector<double> more;
    for (int64_t i = 1; i < runs_; ++i) more.push_back(run_.run());
    write_outputs();
    run_.save_cache(logger);
    if (!trace_.empty()) write_trace(run_.context().execution_profile(), run_.engine().name(), trace_);
    if (json_)
      print_report_json(first, more);
    else
      print_report(first, more);
    return kSuccess;
  }

 private:
  void make_folder() const {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error || !fs::is_directory(folder_, error))
      throw Error({.code = ErrorCode::device,
                   .object = "output folder",
                   .name = folder_,
                   .observed = error ? "cannot make it: " + error.message() : "a file of this name",
                   .remedy = "Choose another folder."});
  }

  void write_outputs() {
    if (folder_.empty()) return;
    std::set<std::string> taken;
    const auto write = [&](const std::string& output, const std::string& name, const Tensor& tensor) {
      const std::string path = (fs::path(folder_) / file_name(name, taken)).string();
      write_npy(tensor, path);
      files_[output].push_back(path);
    };
    for (const auto& [name, value] : run_.outputs()) {
      if (value.is_tensor()) write(name, name, value.tensor());
      if (value.is_sequence())
        for (size_t i = 0; i < value.sequence().size(); ++i)
          write(name, fmt::format("{}.{}", name, i), value.sequence()[i]);
    }
  }

  void print_report_json(double first, const std::vector<double>& more) {
    nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
    for (const auto& [name, value] : run_.outputs())
      outputs.push_back({{"name", name},
                         {"value", datum_json(value)},
                         {"sha256", to_hex(content_digest(value))},
                         {"files", files_[name]}});
    nlohmann::ordered_json report = {{"engine", run_.engine().name()}, {"device", run_.engine().device()},
                                     {"inputs", run_.inputs_json()},   {"outputs", outputs},
                                     {"load", run_.load_seconds()},    {"first_run", first}};
    const EngineStats stats = run_.engine().stats();
    report["kernels"] = {{"compiled", stats.kernels_compiled}, {"cached", stats.kernels_cached}};
    if (!more.empty()) report["steady"] = to_json(summarize(more));
    if (profile_) report["profile"] = profile_json(run_.context().execution_profile());
    print_json(report);
  }

  void print_report(double first, const std::vector<double>& more) {
    std::string out =
        fmt::format("{} on {}\n{}", run_.engine().name(), run_.engine().device(), run_.inputs_text());
    for (const auto& [name, value] : run_.outputs()) {
      out +=
          fmt::format("output {}: {}\n  sha256 {}\n", name, describe(value), to_hex(content_digest(value)));
      for (const std::string& file : files_[name]) out += fmt::format("  {}\n", file);
    }
    out += fmt::format("load {}, first run {}", format_seconds(run_.load_seconds()), format_seconds(first));
    if (!more.empty()) {
      const Timings t = summarize(more);
      out += fmt::format(", steady {} (median of {})", format_seconds(t.p50), t.count);
    }
    out += "\n";
    if (profile_) out += profile_text(run_.context().execution_profile());
    print_text(out);
  }

  EngineRun run_;
  std::string folder_;
  int64_t runs_ = 1;
  bool json_ = false;
  bool profile_ = false;
  std::string trace_;
  std::map<std::string, std::vector<std::string>> files_;  // written, by output
};

}  // namespace

std::unique_ptr<Command> exec_command() { return std::make_unique<ExecCommand>(); }

}  // namespace ingot::cli
