#include "cli/memory_monitor.h"

#include <cstdio>

#include "base/resident_memory.h"
#include "cli/output.h"

namespace ingot::cli {

MemoryMonitor::MemoryMonitor(ProgressMonitor& next, std::chrono::milliseconds interval)
    : next_(next), thread_([this, interval] { print_until_stopped(interval); }) {}

MemoryMonitor::~MemoryMonitor() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_one();
  thread_.join();
}

void MemoryMonitor::phase_start(std::string_view phase, std::string_view parent, int64_t steps) {
  {
    const std::lock_guard lock(mutex_);
    open_.emplace_back(phase);
    print();
  }
  next_.phase_start(phase, parent, steps);
}

void MemoryMonitor::phase_finish(std::string_view phase) {
  {
    const std::lock_guard lock(mutex_);
    print();
    if (!open_.empty()) open_.pop_back();
  }
  next_.phase_finish(phase);
}

void MemoryMonitor::print_until_stopped(std::chrono::milliseconds interval) {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, interval, [this] { return stopped_; })) print();
}

void MemoryMonitor::print() const {
  const ResidentMemory memory = resident_memory();
  fmt::print(stderr, "memory {:8.3f} s  {}: {}, peak {}\n", watch_.seconds(),
             open_.empty() ? "start" : open_.back(), format_bytes(memory.now), format_bytes(memory.peak));
}

}  // namespace ingot::cli
