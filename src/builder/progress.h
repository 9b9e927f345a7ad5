#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/memory_change.h"
#include "ingot/builder.h"

namespace ingot {

// Who is told of the phases of a build.
struct BuildWatch {
  ProgressMonitor* monitor = nullptr;
  BuildReport& report;
  Diagnostics diagnostics;
  std::shared_ptr<const MemoryAccount> memory;
};

// One phase of a build for as long as it lives: tells the monitor and the log, and adds its time and memory
// to the report.
class Phase {
 public:
  Phase(const BuildWatch& watch, std::string_view name, std::string_view parent, int64_t steps);
  ~Phase();
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  // Throws Error(cancelled) when the monitor says so.
  void step(int64_t done);

 private:
  const BuildWatch& watch_;
  const std::string name_;
  const MemoryChange change_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ingot
