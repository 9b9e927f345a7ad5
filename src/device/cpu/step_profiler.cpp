#include "device/cpu/step_profiler.h"

#include <algorithm>

#include "device/cpu/step_info.h"

namespace ingot::cpu {
namespace {

constexpr size_t kMaxEvents = 1000000;
constexpr size_t kRecentRuns = 256;

double seconds_between(LoopObserver::Time begin, LoopObserver::Time end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

void StepProfiler::run_inference(FunctionRef<void()> inference) {
  const ObservedLoops observed(*this);
  const Time begin = std::chrono::steady_clock::now();
  inference();
  seconds_ += seconds_between(begin, std::chrono::steady_clock::now());
  ++inferences_;
}

uint32_t StepProfiler::find_plan(const std::shared_ptr<const Plan>& plan) {
  const auto [found, is_new] = known_.try_emplace(plan.get(), static_cast<uint32_t>(records_.size()));
  if (!is_new) return found->second;
  plans_.push_back(plan);
  for (const std::unique_ptr<Step>& step : plan->steps) records_.push_back({.step = step.get(), .info = {}});
  return found->second;
}

void StepProfiler::run_plan(const std::shared_ptr<const Plan>& plan, const Frame& frame) {
  uint32_t record = find_plan(plan);
  for (const std::unique_ptr<Step>& step : plan->steps) measure(record++, [&] { Plan::run(*step, frame); });
}

void StepProfiler::run_host(const void* what, FunctionRef<void()> work, FunctionRef<StepInfo()> describe) {
  const auto [found, is_new] = known_.try_emplace(what, static_cast<uint32_t>(records_.size()));
  const uint32_t index = found->second;  // a body in `work` may move the map
  if (is_new) records_.emplace_back();
  measure(index, work);
  if (is_new) records_[index].info = describe();
}

// What runs inside `work` and is measured itself is taken off.
void StepProfiler::measure(uint32_t index, FunctionRef<void()> work) {
  const uint32_t outer = current_.exchange(index, std::memory_order_relaxed);
  const double inner_before = explained_;
  const Time begin = std::chrono::steady_clock::now();
  work();
  const Time end = std::chrono::steady_clock::now();
  const double seconds = seconds_between(begin, end) - (explained_ - inner_before);
  explained_ += seconds;
  add_run(records_[index], seconds);
  add_event(index, 0, begin, end);
  current_.store(outer, std::memory_order_relaxed);
}

void StepProfiler::add_run(Record& record, double seconds) {
  record.min_seconds = record.runs == 0 ? seconds : std::min(record.min_seconds, seconds);
  record.seconds += seconds;
  if (record.recent.size() < kRecentRuns)
    record.recent.push_back(seconds);
  else
    record.recent[record.runs % kRecentRuns] = seconds;
  ++record.runs;
}

double StepProfiler::median(std::vector<double> seconds) {
  if (seconds.empty()) return 0;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>((seconds.size() - 1) / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

void StepProfiler::helped(int worker, Time begin, Time end) noexcept {
  add_event(current_.load(std::memory_order_relaxed), worker + 1, begin, end);
}

void StepProfiler::add_event(uint32_t record, int thread, Time begin, Time end) noexcept {
  const std::lock_guard lock(mutex_);
  if (events_.size() >= kMaxEvents) {
    ++dropped_;
    return;
  }
  try {
    events_.push_back({record, thread, seconds_between(start_, begin), seconds_between(begin, end)});
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
}

ExecutionProfile StepProfiler::profile(const KernelSet& kernels) const {
  ExecutionProfile out{.target = to_string(kernels.target()),
                       .inferences = inferences_,
                       .seconds = seconds_,
                       .steps = {},
                       .events = events_,
                       .dropped_events = dropped_};
  for (const Record& record : records_)
    out.steps.push_back({.info = record.step ? describe_step(*record.step, kernels) : record.info,
                         .runs = record.runs,
                         .seconds = record.seconds,
                         .min_seconds = record.min_seconds,
                         .median_seconds = median(record.recent)});
  return out;
}

}  // namespace ingot::cpu
