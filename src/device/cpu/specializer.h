#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "device/cpu/plan_builder.h"
#include "ingot/logger.h"
#include "ingot/specialization.h"

namespace ingot::cpu {

// When the plans of a program get the kernels that they want, and the thread that makes better plans
// meanwhile. Thread-safe.
class Specializer {
 public:
  Specializer(SpecializationStrategy strategy, bool deterministic, KernelSet& kernels,
              Diagnostics diagnostics);
  ~Specializer();  // finishes the job under way and drops the others

  // For the plans made when an engine opens, and for those of new shapes that an inference has.
  KernelPolicy at_opening() const { return {.standbys = !compiles_in_calls()}; }
  KernelPolicy in_call() const { return {.compile = compiles_in_calls(), .phase = CompilePhase::call}; }
  KernelPolicy in_background() const { return {.threads = 1, .phase = CompilePhase::background}; }
  // Whether generic plans are to be swapped.
  bool swaps() const { return strategy_ == SpecializationStrategy::lazy && !deterministic_; }

  // Runs a job on the thread, which has the lowest priority. False where too many wait already.
  bool add(std::function<void()> job);
  size_t pending() const;
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  bool compiles_in_calls() const {
    return strategy_ == SpecializationStrategy::eager ||
           (strategy_ == SpecializationStrategy::lazy && deterministic_);
  }
  bool start();
  void work();
  void run(const std::function<void()>& job) const;

  const SpecializationStrategy strategy_;
  const bool deterministic_;
  KernelSet& kernels_;
  const Diagnostics diagnostics_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace ingot::cpu
