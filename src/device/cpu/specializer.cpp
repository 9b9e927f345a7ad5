#include "device/cpu/specializer.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <system_error>

#include "base/blocked_signals.h"

namespace ingot::cpu {
namespace {

constexpr size_t kMostJobs = 64;

// Of the calling thread; its own on Linux. What it makes is never waited for.
void take_lowest_priority() {
  constexpr int kLowest = 19;
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kLowest);
}

}  // namespace

Specializer::Specializer(SpecializationStrategy strategy, bool deterministic, KernelSet& kernels,
                         Diagnostics diagnostics)
    : strategy_(strategy),
      deterministic_(deterministic),
      kernels_(kernels),
      diagnostics_(std::move(diagnostics)) {}

Specializer::~Specializer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Specializer::add(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (jobs_.size() >= kMostJobs || !start()) return false;
  jobs_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

size_t Specializer::pending() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size() + (busy_ ? 1 : 0);
}

bool Specializer::start() {
  if (thread_.joinable()) return true;
  const BlockedSignals blocked;
  try {
    thread_ = std::thread([this] { work(); });
    return true;
  } catch (const std::system_error&) {  // no thread to be had: generic kernels go on
    return false;
  }
}

void Specializer::work() {
  take_lowest_priority();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    const bool last = jobs_.empty();
    busy_ = true;
    lock.unlock();
    run(job);
    if (last) kernels_.publish_image();
    lock.lock();
    busy_ = false;
  }
}

void Specializer::run(const std::function<void()>& job) const {
  try {
    job();
  } catch (const std::exception& error) {  // out of memory, or the compiler is missing
    diagnostics_.log(
        LogLevel::warning,
        fmt::format("generic kernels stay in use, better ones cannot be made: {}", error.what()));
  }
}

}  // namespace ingot::cpu
