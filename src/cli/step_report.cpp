#include "cli/step_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.h"

namespace ingot::cli {
namespace {

double seconds_of_a_run(const StepStats& step) {
  return step.runs == 0 ? 0 : step.seconds / static_cast<double>(step.runs);
}

double total_seconds(const std::vector<StepStats>& steps) {
  double total = 0;
  for (const StepStats& step : steps) total += seconds_of_a_run(step);
  return total;
}

// "183 Gflop/s", "12.1 GB/s", or nothing.
std::string rate(double amount, double seconds, std::string_view unit) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.3g} {}", amount / seconds / 1e9, unit) : "";
}

}  // namespace

std::string steps_text(const std::vector<StepStats>& steps) {
  std::string out = "steps, in the order in which they run:\n";
  for (size_t i = 0; i < steps.size(); ++i)
    out += fmt::format("{:>5}  {}: {}\n", i, steps[i].name, steps[i].description);
  return out;
}

std::string profile_text(const std::vector<StepStats>& steps) {
  std::vector<const StepStats*> slowest;
  for (const StepStats& step : steps) slowest.push_back(&step);
  std::ranges::stable_sort(slowest, std::greater(), [](const StepStats* s) { return seconds_of_a_run(*s); });
  const double total = total_seconds(steps);
  std::string out = fmt::format("{} steps, {} a run; the slowest first:\n{:>9} {:>7} {:>12} {:>10}  step\n",
                                steps.size(), format_seconds(total), "time", "share", "", "");
  for (const StepStats* step : slowest) {
    const double seconds = seconds_of_a_run(*step);
    out += fmt::format("{:>9} {:>6.1f}% {:>12} {:>10}  {}: {}\n", format_seconds(seconds),
                       total > 0 ? 100 * seconds / total : 0, rate(step->flops, seconds, "Gflop/s"),
                       rate(step->bytes, seconds, "GB/s"), step->name, step->description);
  }
  return out;
}

nlohmann::ordered_json profile_json(const std::vector<StepStats>& steps) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const StepStats& step : steps)
    out.push_back({{"name", step.name},
                   {"description", step.description},
                   {"seconds", seconds_of_a_run(step)},
                   {"runs", step.runs},
                   {"flops", step.flops},
                   {"bytes", step.bytes}});
  return out;
}

}  // namespace ingot::cli
