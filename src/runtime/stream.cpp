#include <pthread.h>

#include <system_error>

#include "base/blocked_signals.h"
#include "runtime/engine_state.h"
#include "runtime/report.h"
#include "runtime/stream_state.h"

namespace ingot {

Stream::State::State() {
  std::string failure;
  try {
    BlockedSignals blocked;
    worker_ = std::thread([this] { work(); });
    worker_id_ = worker_.get_id();
  } catch (const std::system_error& e) {
    failure = fmt::format("the system refused it (error {})", e.code().value());
  }
  if (!failure.empty())
    throw Error({.code = ErrorCode::device,
                 .object = "stream",
                 .expected = "a thread to start",
                 .observed = failure,
                 .remedy = "Use fewer streams or raise the limit of processes ('ulimit -u')."});
}

void Stream::State::Job::run() const {
  reported(context->shared().diagnostics, [&] { context->perform_bound(*bindings); });
}

void Stream::State::push(Job job) {
  {
    std::lock_guard lock(mutex_);
    if (closing_)
      throw Error({.code = ErrorCode::invalid_argument,
                   .object = "stream",
                   .expected = "an open stream",
                   .observed = "a closed one",
                   .remedy = "Enqueue before close(), or on another stream."});
    jobs_.push_back(std::move(job));
    ++pushed_;
  }
  wake_.notify_one();
}

void Stream::State::work() {
  pthread_setname_np(pthread_self(), "ingot-stream");
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return closing_ || !is_empty(); });
    if (is_empty()) return;
    std::optional<Job> job = take();
    lock.unlock();
    finish(*job);
    job.reset();  // releases all it holds before a waiting thread is told that it has ended
    lock.lock();
    ++ended_;
    done_.notify_all();
  }
}

Stream::State::Job Stream::State::take() {
  Job job = std::move(jobs_[next_++]);
  if (is_empty()) {
    jobs_.clear();
    next_ = 0;
  }
  return job;
}

void Stream::State::finish(const Job& job) {
  {
    std::unique_lock lock(mutex_);
    if (error_) {
      ++skipped_;
      lock.unlock();
      return job.skip();
    }
  }
  try {
    job.run();
  } catch (const Error& e) {
    std::lock_guard lock(mutex_);
    error_ = e;
  }
}

void Stream::State::synchronize() {
  refuse_own_thread("synchronize");
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this, target = pushed_] { return ended_ >= target; });
  if (!error_) return;
  ErrorParts parts = error_->parts();
  if (skipped_ > 0)
    parts.remedy +=
        fmt::format("{}Not run, as queued behind it: {}.", parts.remedy.empty() ? "" : " ", skipped_);
  error_.reset();
  skipped_ = 0;
  throw Error(std::move(parts));
}

void Stream::State::close() {
  refuse_own_thread("close");
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  std::lock_guard lock(close_mutex_);
  if (worker_.joinable()) worker_.join();
}

void Stream::State::refuse_own_thread(const char* call) const {
  if (std::this_thread::get_id() == worker_id_)
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "stream",
                 .expected = fmt::format("{}() on another thread", call),
                 .observed = "a call from an inference on this stream, which would wait for itself"});
}

Stream::Stream() : state_(std::make_unique<State>()) {}
Stream::~Stream() = default;
void Stream::synchronize() { state_->synchronize(); }
void Stream::close() { state_->close(); }

}  // namespace ingot
