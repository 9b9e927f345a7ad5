#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/engine_run.h"
#include "cli/output.h"
#include "cli/timings.h"
#include "tensor_io/digest.h"

namespace ingot::cli {
namespace {

class BenchCommand : public Command {
 public:
  ManualPage manual() const override {
    return {.name = "bench",
            .summary = "measure how long an engine takes",
            .description =
                "Opens ENGINE, runs it on one set of inputs a number of times on one thread of control, and "
                "prints the "
                "load time, the first run and the distribution of the others after the warm-up. Times are "
                "wall-clock "
                "and include handing over the outputs. The SHA-256 digests of the outputs show whether two "
                "measurements computed the same.",
            .example = "ingot bench model.ingot --random-seed 1 --dim batch=8 --runs 200"};
  }

  void declare(Arguments& a) override {
    run_.declare(a);
    a.option("--runs", "N", runs_, "Measured runs; default: 50.", 1, 100000000);
    a.option("--warm-up", "N", warm_up_,
             "Runs before these that do not count, the first one included; default: 5.", 1, 1000000);
    a.flag("--json", json_, "Print JSON, times in seconds.");
  }

  int run(Logger& logger) override {
    run_.open(logger);
    const double first = run_.run();
    for (int64_t i = 1; i < warm_up_; ++i) run_.run();
    std::vector<double> seconds;
    for (int64_t i = 0; i < runs_; ++i) seconds.push_back(run_.run());
    const Timings timings = summarize(std::move(seconds));
    if (json_)
      print_report_json(first, timings);
    else
      print_report(first, timings);
    return kSuccess;
  }

 private:
  void print_report_json(double first, const Timings& timings) const {
    nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
    for (const auto& [name, value] : run_.outputs())
      outputs.push_back(
          {{"name", name}, {"value", datum_json(value)}, {"sha256", to_hex(content_digest(value))}});
    print_json({{"engine", run_.engine().name()},
                {"device", run_.engine().device()},
                {"inputs", run_.inputs_json()},
                {"load", run_.load_seconds()},
                {"first_run", first},
                {"warm_up", warm_up_},
                {"steady", to_json(timings)},
                {"outputs", outputs}});
  }

  void print_report(double first, const Timings& t) const {
    std::string out =
        fmt::format("{} on {}\n{}", run_.engine().name(), run_.engine().device(), run_.inputs_text());
    for (const auto& [name, value] : run_.outputs())
      out += fmt::format("output {}: {}, sha256 {}\n", name, describe(value), to_hex(content_digest(value)));
    out += fmt::format(
        "load {}, first run {}\n{} runs: min {}, mean {}, p50 {}, p90 {}, p95 {}, p99 {}, max {}\n",
        format_seconds(run_.load_seconds()), format_seconds(first), t.count, format_seconds(t.min),
        format_seconds(t.mean), format_seconds(t.p50), format_seconds(t.p90), format_seconds(t.p95),
        format_seconds(t.p99), format_seconds(t.max));
    print_text(out);
  }

  EngineRun run_;
  int64_t runs_ = 50;
  int64_t warm_up_ = 5;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace ingot::cli
