#include "cli/inference_load.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace ingot::cli {

struct InferenceLoad::Progress {
  Clock::time_point start = Clock::now();
  std::atomic<int64_t> begun = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::exception_ptr error;     // the first
  std::vector<Sample> samples;  // of streams that are done
};

namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

InferenceLoad::InferenceLoad(std::shared_ptr<const Engine> engine, const std::map<std::string, Datum>& inputs,
                             int streams)
    : inputs_(inputs) {
  for (int i = 0; i < streams; ++i) contexts_.push_back(engine->create_context());
}

std::vector<Sample> InferenceLoad::run(const LoadLimits& limits) {
  Progress progress;
  std::vector<std::jthread> threads;
  for (int i = 1; i < static_cast<int>(contexts_.size()); ++i)
    threads.emplace_back([this, i, &limits, &progress] { run_stream(i, limits, progress); });
  run_stream(0, limits, progress);
  threads.clear();  // joins
  if (progress.error) std::rethrow_exception(progress.error);
  return std::move(progress.samples);
}

void InferenceLoad::run_stream(int stream, const LoadLimits& limits, Progress& progress) {
  std::vector<Sample> samples;
  std::exception_ptr error;
  try {
    for (;;) {
      const double start = seconds_between(progress.start, Clock::now());
      if (progress.failed || (progress.begun.fetch_add(1) >= limits.iterations && start >= limits.seconds))
        break;
      contexts_[static_cast<size_t>(stream)]->run(inputs_);
      samples.push_back({stream, start, seconds_between(progress.start, Clock::now()) - start});
    }
  } catch (...) {
    progress.failed = true;
    error = std::current_exception();
  }
  const std::lock_guard lock(progress.mutex);
  progress.samples.insert(progress.samples.end(), samples.begin(), samples.end());
  if (!progress.error) progress.error = error;
}

}  // namespace ingot::cli
