#include "runtime/settings.h"

#include "base/cpu_affinity.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr int kMostThreads = 1024;

[[noreturn]] void refuse(std::string object, std::string expected, int observed, std::string remedy) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = std::move(object),
               .expected = std::move(expected),
               .observed = fmt::format("{}", observed),
               .remedy = std::move(remedy)});
}

bool is_set(const RuntimeConfig& config, std::string_view name) {
  if (name == "threads") return config.threads > 1;
  if (name == "cpus") return !config.cpus.empty();
  if (name == "isa") return !config.isa.empty();
  if (name == "capture") return config.capture != CaptureStrategy::none;
  if (name == "workspace_limit") return config.workspace_limit.has_value();
  if (name == "weight_streaming_budget") return config.weight_streaming_budget.has_value();
  return name == "auxiliary_streams" && config.auxiliary_streams.has_value();
}

}  // namespace

std::string_view to_string(CaptureStrategy strategy) {
  switch (strategy) {
    case CaptureStrategy::none: return "none";
    case CaptureStrategy::whole_graph: return "whole_graph";
  }
  return "unknown";
}

void check_settings(const RuntimeConfig& config) {
  if (config.threads < 0 || config.threads > kMostThreads)
    refuse("threads of a runtime", fmt::format("0 (all CPUs) to {}", kMostThreads), config.threads,
           "Set RuntimeConfig::threads to what the machine has, or to 0.");
  if (config.auxiliary_streams.value_or(0) < 0)
    refuse("auxiliary streams of a runtime", "at least 0", *config.auxiliary_streams,
           "Set RuntimeConfig::auxiliary_streams to 0 for none, or leave it unset.");
  require_allowed_cpus(config.cpus, "CPUs of a runtime");
}

std::vector<IgnoredSetting> find_ignored(const RuntimeConfig& config, const Device& device) {
  std::vector<IgnoredSetting> ignored;
  for (IgnoredSetting& setting : device.unused_settings())
    if (is_set(config, setting.name)) ignored.push_back(std::move(setting));
  return ignored;
}

}  // namespace ingot
