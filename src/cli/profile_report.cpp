#include "cli/profile_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "cli/output.h"
#include "ingot/error.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWidestName = 48;

// Steps of one kind together.
struct KindSum {
  uint64_t steps = 0;
  double seconds = 0;
};

// Medians, since other work on the machine makes single runs slow.
double typical_seconds(const StepProfile& step) {
  return step.median_seconds * static_cast<double>(step.runs);
}

double typical_seconds(const ExecutionProfile& profile) {
  double sum = 0;
  for (const StepProfile& step : profile.steps) sum += typical_seconds(step);
  return sum;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// Thousand millions a second, of something there is so much of in each run.
double giga_rate(double amount, const StepProfile& step) {
  return step.median_seconds > 0 ? amount / step.median_seconds / 1e9 : 0;
}

// The end of a path says more than its beginning.
std::string shortened(const std::string& name) {
  return name.size() <= kWidestName ? name : "..." + name.substr(name.size() - (kWidestName - 3));
}

std::vector<const StepProfile*> slowest_first(const ExecutionProfile& profile) {
  std::vector<const StepProfile*> out;
  for (const StepProfile& step : profile.steps)
    if (step.runs > 0) out.push_back(&step);
  std::ranges::stable_sort(out, std::ranges::greater(),
                           [](const StepProfile* step) { return typical_seconds(*step); });
  return out;
}

std::string operands(const StepInfo& step) {
  return fmt::format("{} -> {}", fmt::join(step.reads, ", "), fmt::join(step.writes, ", "));
}

std::string row(const StepProfile& step, const ExecutionProfile& profile) {
  const auto count = static_cast<double>(profile.inferences);
  return fmt::format("{:5.1f} % {:>9} {:>9} {:6.5g} {:8.1f} {:7.1f}  {:9} {:{}}  {}; {}\n",
                     percent(typical_seconds(step), typical_seconds(profile)),
                     format_seconds(typical_seconds(step) / count), format_seconds(step.min_seconds),
                     static_cast<double>(step.runs) / count, giga_rate(step.info.flops, step),
                     giga_rate(step.info.bytes, step), step.info.kind, shortened(step.info.name), kWidestName,
                     step.info.detail, operands(step.info));
}

std::string kinds_text(const ExecutionProfile& profile) {
  std::map<std::string, KindSum> kinds;
  for (const StepProfile& step : profile.steps) {
    kinds[step.info.kind].seconds += typical_seconds(step);
    ++kinds[step.info.kind].steps;
  }
  std::vector<std::pair<std::string, KindSum>> sorted(kinds.begin(), kinds.end());
  std::ranges::sort(sorted, std::ranges::greater(), [](const auto& kind) { return kind.second.seconds; });
  std::string out;
  for (const auto& [kind, sum] : sorted)
    out +=
        fmt::format("{:5.1f} % {:>9}  {} x {}\n", percent(sum.seconds, typical_seconds(profile)),
                    format_seconds(sum.seconds / static_cast<double>(profile.inferences)), sum.steps, kind);
  return out;
}

Json lane_json(int process, int thread, const std::string& name) {
  return {
      {"ph", "M"}, {"name", "thread_name"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json event_json(const StepEvent& event, const StepInfo& step) {
  Json arguments = {{"kind", step.kind},     {"detail", step.detail}, {"reads", step.reads},
                    {"writes", step.writes}, {"flops", step.flops},   {"bytes", step.bytes}};
  return {{"ph", "X"},
          {"name", step.name},
          {"cat", step.kind},
          {"pid", 1},
          {"tid", event.thread},
          {"ts", event.start * 1e6},
          {"dur", event.seconds * 1e6},
          {"args", std::move(arguments)}};
}

}  // namespace

std::string profile_text(const ExecutionProfile& profile) {
  if (profile.steps.empty() || profile.inferences == 0) return "no steps: this device has none to show\n";
  const auto count = static_cast<double>(profile.inferences);
  std::string out = fmt::format(
      "profile of {} inferences for {} on {} threads: mean {}, sum of the medians of {} steps {}\n",
      profile.inferences, profile.target, profile.threads, format_seconds(profile.seconds / count),
      profile.steps.size(), format_seconds(typical_seconds(profile) / count));
  out += kinds_text(profile) +
         fmt::format("\n{:>7} {:>9} {:>9} {:>6} {:>8} {:>7}  {:9} {:{}}  schedule; operands\n", "share",
                     "time", "fastest", "runs", "GFLOP/s", "GB/s", "kind", "step", kWidestName);
  for (const StepProfile* step : slowest_first(profile)) out += row(*step, profile);
  return out;
}

std::string steps_text(const ExecutionProfile& profile) {
  std::string out = "steps, in the order in which they run:\n";
  for (size_t i = 0; i < profile.steps.size(); ++i) {
    const StepInfo& step = profile.steps[i].info;
    out += fmt::format("{:>5}  {:9} {}: {}; {}\n", i, step.kind, step.name, step.detail, operands(step));
  }
  return out;
}

Json step_json(const StepInfo& step) {
  Json kernels = Json::array();
  for (const KernelInfo& kernel : step.kernels)
    kernels.push_back({{"key", kernel.key},
                       {"origin", kernel.origin},
                       {"code_bytes", kernel.code_bytes},
                       {"text", kernel.text}});
  return {{"name", step.name},         {"kind", step.kind},     {"detail", step.detail},
          {"reads", step.reads},       {"writes", step.writes}, {"flops", step.flops},
          {"integers", step.integers}, {"bytes", step.bytes},   {"kernels", kernels}};
}

Json profile_json(const ExecutionProfile& profile) {
  Json steps = Json::array();
  for (const StepProfile& step : profile.steps) {
    Json one = step_json(step.info);
    one["runs"] = step.runs;
    one["seconds"] = step.seconds;
    one["min_seconds"] = step.min_seconds;
    one["median_seconds"] = step.median_seconds;
    steps.push_back(std::move(one));
  }
  return {{"target", profile.target},
          {"threads", profile.threads},
          {"inferences", profile.inferences},
          {"seconds", profile.seconds},
          {"steps", std::move(steps)}};
}

Json trace_json(const ExecutionProfile& profile, const std::string& name) {
  Json events = Json::array();
  events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 1}, {"args", {{"name", name}}}});
  for (int thread = 0; thread < profile.threads; ++thread)
    events.push_back(
        lane_json(1, thread, thread == 0 ? std::string("caller") : fmt::format("helper {}", thread)));
  for (const StepEvent& event : profile.events)
    events.push_back(event_json(event, profile.steps.at(event.step).info));
  return {{"displayTimeUnit", "ns"},
          {"otherData", {{"target", profile.target}, {"dropped_events", profile.dropped_events}}},
          {"traceEvents", std::move(events)}};
}

void write_trace(const ExecutionProfile& profile, const std::string& name, const std::string& path) {
  AtomicFile file(path, "trace");
  file.append(trace_json(profile, name).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  file.commit();
}

}  // namespace ingot::cli
