#include "device/cpu/fallback_log.h"

namespace ingot::cpu {

void FallbackLog::add(const Plan& plan) {
  if (plan.reference_nodes == 0) return;
  constexpr std::string_view kKind = "reference ";  // as ReferenceStep describes itself
  const std::lock_guard lock(mutex_);
  std::set<std::string> found;
  for (const std::unique_ptr<Step>& step : plan.steps) {
    const std::string text = step->describe();
    if (text.starts_with(kKind) && logged_.insert(text).second) found.insert(text.substr(kKind.size()));
  }
  if (!found.empty())
    diagnostics_.log(LogLevel::info,
                     fmt::format("no kernels yet, run on the reference device: {}", fmt::join(found, ", ")));
}

}  // namespace ingot::cpu
