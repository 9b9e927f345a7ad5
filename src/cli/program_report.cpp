#include "cli/program_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/profile_report.h"
#include "ingot/error.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kKeyDigits = 12;  // of a key, in tables
constexpr size_t kSuggestions = 8;

// Sums over the steps of one inference.
struct Totals {
  double flops = 0, bytes = 0, predicted = 0, measured = 0;
};

double runs_per_inference(const ProgramReport& report, const StepProfile& step) {
  return static_cast<double>(step.runs) /
         static_cast<double>(std::max<uint64_t>(1, report.profile.inferences));
}

Totals total(const ProgramReport& report) {
  Totals out;
  for (const StepProfile& step : report.profile.steps) {
    const double runs = runs_per_inference(report, step);
    out.flops += runs * step.info.flops;
    out.bytes += runs * step.info.bytes;
    out.predicted += runs * predicted_seconds(step.info, report.speed);
    out.measured += runs * step.median_seconds;
  }
  return out;
}

// Of what the machine could do at best.
double share_of_peak(const StepProfile& step, const MachineSpeed& speed) {
  return step.median_seconds > 0 ? predicted_seconds(step.info, speed) / step.median_seconds : 0;
}

bool is_fallback(const StepInfo& step) { return step.kind == "reference"; }

// By what runs there: how many steps.
std::map<std::string, int> fallbacks(const ExecutionProfile& profile) {
  std::map<std::string, int> out;
  for (const StepProfile& step : profile.steps)
    if (is_fallback(step.info)) ++out[step.info.detail];
  return out;
}

std::string fallbacks_text(const ExecutionProfile& profile) {
  std::vector<std::string> parts;
  for (const auto& [what, count] : fallbacks(profile)) parts.push_back(fmt::format("{} x {}", count, what));
  return parts.empty() ? "nothing runs on the reference device\n"
                       : fmt::format("on the reference device: {}\n", fmt::join(parts, ", "));
}

std::string kernels_text(const StepInfo& step) {
  std::vector<std::string> parts;
  for (const KernelInfo& kernel : step.kernels)
    parts.push_back(
        fmt::format("{} ({}, {} bytes)", kernel.key.substr(0, kKeyDigits), kernel.origin, kernel.code_bytes));
  return parts.empty() ? "" : fmt::format("\n{:52}kernels {}", "", fmt::join(parts, ", "));
}

std::string row(const StepProfile& step, const MachineSpeed& speed) {
  return fmt::format("{:>9} {:>9} {:>6.1f} % {:>9} {:>9}  {}: {} {}\n{:52}{} -> {}{}\n",
                     format_seconds(step.median_seconds), format_seconds(predicted_seconds(step.info, speed)),
                     100 * share_of_peak(step, speed), fmt::format("{:.3g}", step.info.flops / 1e6),
                     fmt::format("{:.3g}", step.info.bytes / 1e6), step.info.name, step.info.kind,
                     step.info.detail, "", fmt::join(step.info.reads, ", "),
                     fmt::join(step.info.writes, ", "), kernels_text(step.info));
}

// How near the planner came to the least that any planner needs.
double arena_ratio(const EngineStats& stats) {
  return stats.arena_least_bytes > 0
             ? static_cast<double>(stats.arena_bytes) / static_cast<double>(stats.arena_least_bytes)
             : 1;
}

std::string arena_text(const EngineStats& stats) {
  return fmt::format(
      "arena   {} bytes, lower bound {} (largest set of values alive at once), ratio {:.3f}; "
      "scratch of a step at most {}\n",
      stats.arena_bytes, stats.arena_least_bytes, arena_ratio(stats), stats.scratch_bytes);
}

std::string head_text(const ProgramReport& report) {
  const EngineStats& stats = report.stats;
  std::string out = fmt::format("{} on {} for {}, {} threads: {} steps\n", report.name, report.device,
                                report.profile.target, report.profile.threads, report.profile.steps.size());
  out += fmt::format("kernels {}: {} compiled, {} found ready\n", stats.kernels, stats.kernels_compiled,
                     stats.kernels_cached);
  out +=
      fmt::format("memory  {} for intermediate values of a context, {} of packed weights, {} of weights\n",
                  format_bytes(static_cast<uint64_t>(stats.arena_bytes)),
                  format_bytes(static_cast<uint64_t>(stats.packed_bytes)), format_bytes(stats.weight_bytes));
  out += arena_text(stats);
  return out + fallbacks_text(report.profile);
}

std::string totals_text(const ProgramReport& report) {
  const Totals sums = total(report);
  return fmt::format(
      "machine {:.4g} GFLOP/s of f32, {:.4g} of 8-bit integers, {:.3g} GB/s from memory, measured now\n"
      "total   {:.4g} GFLOP, {:.4g} MB; predicted {}, measured {} (medians of {} inferences): {:.1f} % of "
      "peak\n",
      report.speed.flops / 1e9, report.speed.integer_products / 1e9, report.speed.bytes / 1e9,
      sums.flops / 1e9, sums.bytes / 1e6, format_seconds(sums.predicted), format_seconds(sums.measured),
      report.profile.inferences, sums.measured > 0 ? 100 * sums.predicted / sums.measured : 0);
}

Json totals_json(const ProgramReport& report) {
  const Totals sums = total(report);
  return {{"flops", sums.flops},
          {"bytes", sums.bytes},
          {"predicted_seconds", sums.predicted},
          {"measured_seconds", sums.measured}};
}

std::vector<const KernelInfo*> kernels_where(const ExecutionProfile& profile, auto matches) {
  std::vector<const KernelInfo*> out;
  for (const StepProfile& step : profile.steps)
    for (const KernelInfo& kernel : step.info.kernels)
      if (matches(step.info, kernel) &&
          std::ranges::none_of(out, [&](const KernelInfo* k) { return k->key == kernel.key; }))
        out.push_back(&kernel);
  return out;
}

std::vector<const KernelInfo*> find_kernels(const ExecutionProfile& profile, const std::string& name) {
  auto exact = kernels_where(profile, [&](const StepInfo& s, const KernelInfo&) { return s.name == name; });
  if (!exact.empty()) return exact;
  return kernels_where(profile, [&](const StepInfo& s, const KernelInfo& k) {
    return s.name.find(name) != std::string::npos || k.key.starts_with(name);
  });
}

[[noreturn]] void fail_no_kernel(const ExecutionProfile& profile, const std::string& name) {
  std::vector<std::string> names;
  for (const StepProfile& step : profile.steps)
    if (!step.info.kernels.empty() && names.size() < kSuggestions) names.push_back(step.info.name);
  throw Error({.code = ErrorCode::not_found,
               .object = "kernel",
               .name = name,
               .expected = names.empty() ? "a device that compiles kernels"
                                         : fmt::format("a step as '{}', or a key", fmt::join(names, "', '")),
               .remedy = "See 'ingot inspect --program' for all steps and keys."});
}

}  // namespace

double predicted_seconds(const StepInfo& step, const MachineSpeed& speed) {
  const double rate = step.integers ? speed.integer_products : speed.flops;
  const double compute = rate > 0 ? step.flops / rate : 0;
  const double memory = speed.bytes > 0 ? step.bytes / speed.bytes : 0;
  return std::max(compute, memory);
}

std::string program_text(const ProgramReport& report) {
  if (report.profile.steps.empty())
    return fmt::format("{} on {}: no steps, this device has none to show\n", report.name, report.device);
  std::string out = head_text(report) + totals_text(report);
  out += fmt::format("\n{:>9} {:>9} {:>8} {:>9} {:>9}  step: kind, schedule; operands; kernels\n", "measured",
                     "predicted", "of peak", "MFLOP", "MB");
  for (const StepProfile& step : report.profile.steps) out += row(step, report.speed);
  return out;
}

Json program_json(const ProgramReport& report) {
  Json out = {{"engine", report.name}, {"device", report.device}};
  out["kernels"] = report.stats.kernels;
  out["kernels_compiled"] = report.stats.kernels_compiled;
  out["kernels_cached"] = report.stats.kernels_cached;
  out["arena_bytes"] = report.stats.arena_bytes;
  out["arena_lower_bound_bytes"] = report.stats.arena_least_bytes;
  out["arena_ratio"] = arena_ratio(report.stats);
  out["scratch_bytes"] = report.stats.scratch_bytes;
  out["packed_bytes"] = report.stats.packed_bytes;
  out["weight_bytes"] = report.stats.weight_bytes;
  out["fallbacks"] = fallbacks(report.profile);
  out["machine"] = {{"flops_per_second", report.speed.flops},
                    {"integer_products_per_second", report.speed.integer_products},
                    {"bytes_per_second", report.speed.bytes}};
  out["total"] = totals_json(report);
  out.update(profile_json(report.profile));
  for (size_t i = 0; i < report.profile.steps.size(); ++i) {
    out["steps"][i]["predicted_seconds"] = predicted_seconds(report.profile.steps[i].info, report.speed);
    out["steps"][i]["share_of_peak"] = share_of_peak(report.profile.steps[i], report.speed);
  }
  return out;
}

std::string kernel_listings(const Engine& engine, const ExecutionProfile& profile, const std::string& name) {
  const std::vector<const KernelInfo*> kernels = find_kernels(profile, name);
  if (kernels.empty()) fail_no_kernel(profile, name);
  std::string out;
  for (const KernelInfo* kernel : kernels) {
    const KernelListing listing = engine.list_kernel(kernel->key);
    out += fmt::format("kernel {}\n\n{}\n; LLVM IR\n{}\n# assembly\n{}\n", kernel->key, kernel->text,
                       listing.llvm_ir, listing.assembly);
  }
  return out;
}

}  // namespace ingot::cli
