#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/stopwatch.h"
#include "ingot/builder.h"

namespace ingot::cli {

// Prints the resident memory of the process to standard error, now and then and as each phase begins and
// ends: "memory    0.250 s  write: 81.2 MB, peak 90.4 MB". Passes the phases on to another monitor.
class MemoryMonitor : public ProgressMonitor {
 public:
  MemoryMonitor(ProgressMonitor& next, std::chrono::milliseconds interval);
  ~MemoryMonitor() override;

  void phase_start(std::string_view phase, std::string_view parent, int64_t steps) override;
  bool step(std::string_view phase, int64_t done) override { return next_.step(phase, done); }
  void phase_finish(std::string_view phase) override;

 private:
  void print_until_stopped(std::chrono::milliseconds interval);
  void print() const;  // `mutex_` is held

  ProgressMonitor& next_;
  const Stopwatch watch_;
  std::mutex mutex_;  // guards all below but the thread
  std::condition_variable stopping_;
  std::vector<std::string> open_;  // phases
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace ingot::cli
