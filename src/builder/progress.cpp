#include "builder/progress.h"

#include "ingot/error.h"

namespace ingot {

ProgressMonitor::~ProgressMonitor() = default;

Phase::Phase(const BuildWatch& watch, std::string_view name, std::string_view parent, int64_t steps)
    : watch_(watch), name_(name), change_(watch.diagnostics, watch.memory, fmt::format("phase '{}'", name)) {
  if (watch_.monitor) watch_.monitor->phase_start(name_, parent, steps);
}

Phase::~Phase() {
  const ResidentMemory memory = resident_memory();
  watch_.report.phases.push_back({name_, std::chrono::steady_clock::now() - start_, memory.now, memory.peak});
  change_.finish();
  if (watch_.monitor) watch_.monitor->phase_finish(name_);
}

void Phase::step(int64_t done) {
  if (watch_.monitor == nullptr || watch_.monitor->step(name_, done)) return;
  throw Error({.code = ErrorCode::cancelled,
               .object = "build",
               .expected = {},
               .observed = fmt::format("stopped by the progress monitor in phase '{}'", name_)});
}

}  // namespace ingot
