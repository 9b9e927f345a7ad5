#include "base/thread_pool.h"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <system_error>

#include "base/blocked_signals.h"
#include "base/cpu_count.h"
#include "ingot/error.h"

namespace ingot {

struct ThreadPool::Loop {
  Loop(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t)>& chunk)
      : n(n), grain(grain), chunks(n / grain + (n % grain != 0)), chunk(chunk) {}

  // Runs chunks until none is left to begin.
  void run() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      try {
        chunk(i * grain, i + 1 == chunks ? n : (i + 1) * grain);
      } catch (...) {
        std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
        next.store(chunks, std::memory_order_relaxed);
      }
    }
  }

  bool exhausted() const { return next.load(std::memory_order_relaxed) >= chunks; }

  const int64_t n, grain, chunks;
  const std::function<void(int64_t, int64_t)>& chunk;
  std::atomic<int64_t> next = 0;
  int helpers = 0;  // workers inside run(); guarded by the pool's mutex
  std::mutex error_mutex;
  std::exception_ptr error;
};

ThreadPool::ThreadPool(int threads) { start((threads > 0 ? threads : available_cpus()) - 1); }

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::start(int workers) {
  std::string failure;
  try {
    BlockedSignals blocked;
    workers_.reserve(static_cast<size_t>(workers));
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error& e) {
    failure = fmt::format("the system refused number {} (error {})", workers_.size() + 1, e.code().value());
  }
  if (failure.empty()) return;
  stop();
  throw Error({.code = ErrorCode::device,
               .object = "thread pool",
               .expected = fmt::format("{} threads to start", workers),
               .observed = failure,
               .remedy = "Ask for fewer threads or raise the limit of processes ('ulimit -u')."});
}

void ThreadPool::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void ThreadPool::work() {
  pthread_setname_np(pthread_self(), "ingot-pool");
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || !loops_.empty(); });
    if (stopping_) return;
    Loop* loop = loops_.back();
    if (loop->exhausted()) {
      loops_.pop_back();
      continue;
    }
    ++loop->helpers;
    lock.unlock();
    loop->run();
    lock.lock();
    if (--loop->helpers == 0) finished_.notify_all();
  }
}

void ThreadPool::parallel_for(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t)>& chunk) {
  if (n <= 0) return;
  Loop loop(n, std::max<int64_t>(grain, 1), chunk);
  const int64_t helpers = std::min<int64_t>(loop.chunks, size()) - 1;
  if (helpers > 0) {
    std::lock_guard lock(mutex_);
    loops_.push_back(&loop);
  }
  for (int64_t i = 0; i < helpers; ++i) wake_.notify_one();
  loop.run();
  if (helpers > 0) {
    // The loop lives on this stack, so it leaves the list, and every helper leaves it, before this returns.
    std::unique_lock lock(mutex_);
    std::erase(loops_, &loop);
    finished_.wait(lock, [&] { return loop.helpers == 0; });
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace ingot
