#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "ingot/builder.h"

namespace ingot {

// One phase of a build for as long as it lives: tells the monitor, and adds its time to the report.
class Phase {
 public:
  Phase(ProgressMonitor* monitor, BuildReport& report, std::string_view name, std::string_view parent,
        int64_t steps)
      : monitor_(monitor), report_(report), name_(name) {
    if (monitor_) monitor_->phase_start(name_, parent, steps);
  }
  ~Phase() {
    report_.phases.push_back({name_, std::chrono::steady_clock::now() - start_});
    if (monitor_) monitor_->phase_finish(name_);
  }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  // Throws Error(cancelled) when the monitor says so.
  void step(int64_t done);

 private:
  ProgressMonitor* monitor_;
  BuildReport& report_;
  std::string name_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ingot
