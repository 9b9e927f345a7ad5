#pragma once

#include <mutex>
#include <unordered_map>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "device/cpu/kernel_set.h"
#include "device/cpu/plan.h"
#include "ingot/execution_profile.h"

namespace ingot::cpu {

// Times the steps of one execution and of the bodies that it runs.
class StepProfiler : private LoopObserver {
 public:
  // An inference, which runs the following.
  void run_inference(FunctionRef<void()> inference);
  void run_plan(const std::shared_ptr<const Plan>& plan, const Frame& frame);
  // Anything else: `what` is the same object at each run of the same work and outlives this. `describe` is
  // called after the first run.
  void run_host(const void* what, FunctionRef<void()> work, FunctionRef<StepInfo()> describe);

  // Steps, times and events; not during a run.
  ExecutionProfile profile(const KernelSet& kernels) const;

 private:
  struct Record {
    const Step* step = nullptr;  // null: `info` says all
    StepInfo info = {};
    uint64_t runs = 0;
    double seconds = 0;
    double min_seconds = 0;
    std::vector<double> recent = {};  // the last runs, in a ring
  };

  // The records of the steps of a plan follow each other from here on.
  uint32_t find_plan(const std::shared_ptr<const Plan>& plan);
  static void add_run(Record& record, double seconds);
  static double median(std::vector<double> seconds);
  void measure(uint32_t record, FunctionRef<void()> work);
  void add_event(uint32_t record, int thread, Time begin, Time end) noexcept;
  void helped(int worker, Time begin, Time end) noexcept override;

  const Time start_ = std::chrono::steady_clock::now();
  std::unordered_map<const void*, uint32_t> known_;
  std::vector<std::shared_ptr<const Plan>> plans_;  // of known steps
  std::vector<Record> records_;
  double explained_ = 0;  // sum over all records
  uint64_t inferences_ = 0;
  double seconds_ = 0;
  std::atomic<uint32_t> current_ = 0;  // the record that runs
  std::mutex mutex_;                   // guards the events while a step runs
  std::vector<StepEvent> events_;
  uint64_t dropped_ = 0;
};

}  // namespace ingot::cpu
