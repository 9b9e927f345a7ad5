#include "builder/progress.h"

#include "ingot/error.h"

namespace ingot {

ProgressMonitor::~ProgressMonitor() = default;

void Phase::step(int64_t done) {
  if (monitor_ == nullptr || monitor_->step(name_, done)) return;
  throw Error({.code = ErrorCode::cancelled,
               .object = "build",
               .expected = {},
               .observed = fmt::format("stopped by the progress monitor in phase '{}'", name_)});
}

}  // namespace ingot
