#include "ingot/stream.h"

#include <pthread.h>

#include <system_error>

#include "base/blocked_signals.h"
#include "base/cpu_affinity.h"
#include "base/reported.h"
#include "runtime/stream_state.h"

namespace ingot {

Stream::State::State(Kind kind, const StreamOptions& options)
    : kind_(kind), diagnostics_{options.logger, options.recorder} {
  if (!is_inline()) reported(diagnostics_, [&] { start(options.cpus); });
}

void Stream::State::start(const std::vector<int>& cpus) {
  require_allowed_cpus(cpus, "CPUs of a stream");
  std::string failure;
  try {
    const BlockedSignals blocked;
    const CpuAffinity affinity(cpus);
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

void Stream::State::push(Work work) {
  if (is_inline()) {
    require_open();
    return perform(work);
  }
  {
    std::lock_guard lock(mutex_);
    require_open_locked();
    queue_.push_back(std::move(work));
    ++given_;
  }
  wake_.notify_one();
}

void Stream::State::require_open() const {
  std::lock_guard lock(mutex_);
  require_open_locked();
}

void Stream::State::require_open_locked() const {
  if (closing_)
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "stream",
                 .expected = "an open stream",
                 .observed = "a closed one",
                 .remedy = "Give it work before close(), or use another stream."});
}

void Stream::State::work() {
  pthread_setname_np(pthread_self(), "ingot-stream");
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return closing_ || !is_empty(); });
    if (is_empty()) return;
    std::optional<Work> work = take();
    lock.unlock();
    finish(*work);
    work.reset();  // releases all it holds before a waiting thread is told that it has ended
    lock.lock();
    ++ended_;
    done_.notify_all();
  }
}

Work Stream::State::take() {
  Work work = std::move(queue_[next_++]);
  if (is_empty()) {
    queue_.clear();
    next_ = 0;
  }
  return work;
}

void Stream::State::finish(const Work& work) {
  std::unique_lock lock(mutex_);
  if (error_) {
    const Error failure = *error_;
    skipped_ += has_effect(work);
    lock.unlock();
    return skip(work, failure);
  }
  lock.unlock();
  try {
    perform(work);
  } catch (const Error& e) {
    report(work, e, diagnostics_);
    fail(e);
  }
}

void Stream::State::fail(const Error& error) {
  std::lock_guard lock(mutex_);
  error_ = error;
}

void Stream::State::synchronize() {
  reported(diagnostics_, [this] { refuse_own_thread("synchronize"); });
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this, target = given_] { return ended_ >= target; });
  if (!error_) return;
  ErrorParts parts = error_->parts();
  if (skipped_ > 0)
    parts.remedy +=
        fmt::format("{}Not run, as queued behind it: {}.", parts.remedy.empty() ? "" : " ", skipped_);
  error_.reset();
  skipped_ = 0;
  throw Error(std::move(parts));
}

bool Stream::State::is_idle() const {
  std::lock_guard lock(mutex_);
  return ended_ == given_;
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
                 .observed = "a call from work on this stream, which would wait for itself"});
}

void* Stream::State::allocate(size_t bytes) {
  std::lock_guard lock(mutex_);
  require_open_locked();
  return memory_.allocate(bytes, ended_);
}

void Stream::State::free(void* memory) {
  if (!memory) return;
  std::lock_guard lock(mutex_);
  memory_.free(memory, given_);
}

size_t Stream::State::reserved_bytes() const {
  std::lock_guard lock(mutex_);
  return memory_.reserved();
}

void Stream::State::trim() {
  std::lock_guard lock(mutex_);
  memory_.trim(ended_);
}

Stream::Stream(const StreamOptions& options)
    : Stream(std::make_unique<State>(State::Kind::worker, options)) {}
Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stream::~Stream() = default;

Stream Stream::inline_stream(const StreamOptions& options) {
  return Stream(std::make_unique<State>(State::Kind::in_line, options));
}

// What it throws has been reported, but for a misuse.
void Stream::synchronize() { state_->synchronize(); }
bool Stream::is_idle() const { return state_->is_idle(); }
void Stream::close() {
  reported(state_->diagnostics(), [&] { state_->close(); });
}

void Stream::record(Event& event) {
  reported(state_->diagnostics(), [&] {
    std::shared_ptr<EventPoint> point = state_->new_point();
    state_->push(MarkWork{point});
    event.state_->set(std::move(point));
  });
}

void Stream::wait(const Event& event) {
  reported(state_->diagnostics(), [&] {
    if (std::shared_ptr<EventPoint> point = event.state_->last()) state_->push(AwaitWork{std::move(point)});
  });
}

void* Stream::allocate(size_t bytes) {
  return reported(state_->diagnostics(), [&] { return state_->allocate(bytes); });
}

void Stream::free(void* memory) {
  reported(state_->diagnostics(), [&] { state_->free(memory); });
}

size_t Stream::reserved_bytes() const { return state_->reserved_bytes(); }
void Stream::trim() { state_->trim(); }

void Stream::copy(void* to, const void* from, size_t bytes) {
  reported(state_->diagnostics(), [&] {
    if (bytes > 0 && (!to || !from))
      throw Error({.code = ErrorCode::invalid_argument,
                   .object = "copy on a stream",
                   .expected = fmt::format("memory of {} bytes to {}", bytes, to ? "read" : "write"),
                   .observed = "null",
                   .remedy = "Give the addresses of both ranges."});
    state_->push(CopyWork{to, from, bytes});
  });
}

void Stream::call(std::function<void()> function) {
  reported(state_->diagnostics(), [&] {
    if (!function)
      throw Error({.code = ErrorCode::invalid_argument,
                   .object = "call on a stream",
                   .expected = "a function",
                   .observed = "an empty one"});
    state_->push(CallWork{std::move(function)});
  });
}

}  // namespace ingot
