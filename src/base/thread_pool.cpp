#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <bit>
#include <chrono>
#include <exception>
#include <system_error>

#include "base/blocked_signals.h"
#include "base/cpu_count.h"
#include "base/float_control.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr int kSlots = 64;
// Shorter than anyone notices.
constexpr auto kSpin = std::chrono::microseconds(8);
// While loops are expected, and for a chunk that another thread is at: longer than the serial work between
// two loops mostly is. Threads that sleep in between are woken on the processor of the one that wakes them,
// where they share it.
constexpr auto kPatience = std::chrono::microseconds(500);

thread_local LoopObserver* current_observer = nullptr;

// Watches for a condition for a short while; false: it did not come.
template <class F>
bool spin_until(F condition, std::chrono::microseconds patience = kSpin) {
  for (int i = 0; i < 16; ++i) {
    if (condition()) return true;
    _mm_pause();
  }
  for (auto end = std::chrono::steady_clock::now() + patience; std::chrono::steady_clock::now() < end;)
    for (int i = 0; i < 4; ++i) {
      if (condition()) return true;
      _mm_pause();
    }
  return condition();
}

// Moves the calling thread to another processor of those it may use. A woken thread is often put beside the
// one that woke it, where the two take turns for many milliseconds before the system moves one of them.
void leave_processor(int processor) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<size_t>(processor), &others);
  if (sched_setaffinity(0, sizeof(others), &others) == 0) sched_setaffinity(0, sizeof(allowed), &allowed);
}

}  // namespace

ObservedLoops::ObservedLoops(LoopObserver& observer) : outer_(current_observer) {
  current_observer = &observer;
}

ObservedLoops::~ObservedLoops() { current_observer = outer_; }

struct alignas(64) ThreadPool::Loop {
  // Runs chunks until none is left to begin.
  void run(int thread) {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      try {
        (*chunk)(i * grain, i + 1 == chunks ? n : (i + 1) * grain, thread);
      } catch (...) {
        if (!failed.exchange(true, std::memory_order_relaxed)) error = std::current_exception();
        next.store(chunks, std::memory_order_relaxed);
      }
    }
  }

  // A worker's share.
  void help(int thread, unsigned worker) {
    set_float_mode(float_mode);
    if (!observer) return run(thread);
    const LoopObserver::Time begin = std::chrono::steady_clock::now();
    run(thread);
    observer->helped(static_cast<int>(worker), begin, std::chrono::steady_clock::now());
  }

  // Written by the caller before the slot opens.
  int64_t n = 0, grain = 1, chunks = 0;
  const Chunk* chunk = nullptr;
  LoopObserver* observer = nullptr;  // null: nobody
  unsigned float_mode = 0;
  std::exception_ptr error;  // written by the one thread that sets `failed`
  std::atomic<bool> failed = false;

  alignas(64) std::atomic<int64_t> next = 0;
  alignas(64) std::atomic<uint32_t> helpers = 0;  // workers that may be inside
  std::atomic<int> arrivals = 0;                  // workers that have been
};

ThreadPool::ThreadPool(int threads)
    : size_(threads > 0 ? threads : available_cpus()), loops_(std::make_unique<Loop[]>(kSlots)) {
  start(size_ - 1);
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::start(int workers) {
  std::string failure;
  try {
    BlockedSignals blocked;
    workers_.reserve(static_cast<size_t>(workers));
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this, i] { work(static_cast<unsigned>(i)); });
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
  stopping_ = true;
  ++signals_;
  signals_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void ThreadPool::work(unsigned worker) {
  pthread_setname_np(pthread_self(), "ingot-pool");
  // Workers begin looking at different slots, so that they spread over the loops of several callers.
  for (unsigned from = worker; !stopping_.load(std::memory_order_relaxed);) {
    uint64_t open = std::rotr(open_.load(), static_cast<int>(from % kSlots));
    if (open == 0) {
      wait_for_loop();
      continue;
    }
    unsigned slot = (from + static_cast<unsigned>(std::countr_zero(open))) % kSlots;
    if (join(slot, worker)) from = slot + 1;
  }
}

ThreadPool::Expectation::Expectation(ThreadPool& pool) : pool_(pool) {
  pool_.caller_processor_.store(sched_getcpu(), std::memory_order_relaxed);
  ++pool_.expected_;
}

void ThreadPool::wait_for_loop() {
  auto wanted = [this] { return open_.load() != 0 || stopping_.load(); };
  const bool expects = expected_.load(std::memory_order_relaxed) != 0;
  if (const int here = sched_getcpu(); expects && here == caller_processor_.load(std::memory_order_relaxed))
    leave_processor(here);
  if (expects &&
      spin_until([&] { return wanted() || expected_.load(std::memory_order_relaxed) == 0; }, kPatience) &&
      wanted())
    return;
  if (spin_until(wanted)) return;
  // A caller opens its slot, then looks for sleepers; a worker counts itself as one, then looks for open
  // slots. So one of the two sees the other.
  uint32_t seen = signals_.load();
  ++sleepers_;
  if (!wanted()) signals_.wait(seen);
  --sleepers_;
}

// Works on the loop in a slot, if that is still open. Being counted in `helpers` keeps the slot from its next
// loop.
bool ThreadPool::join(unsigned slot, unsigned worker) {
  Loop& loop = loops_[slot];
  const uint64_t bit = uint64_t{1} << slot;
  ++loop.helpers;
  const bool open = (open_.load() & bit) != 0;
  if (open) {
    loop.help(1 + loop.arrivals.fetch_add(1, std::memory_order_relaxed), worker);
    open_ &= ~bit;  // nobody comes to a loop without chunks
  }
  if (--loop.helpers == 0) loop.helpers.notify_one();
  return open;
}

// A slot for a loop of the calling thread; -1 when so many loops run that one more need not be shared.
int ThreadPool::claim() {
  for (uint64_t claimed = claimed_.load(std::memory_order_relaxed); ~claimed != 0;) {
    int slot = std::countr_one(claimed);
    if (claimed_.compare_exchange_weak(claimed, claimed | uint64_t{1} << slot, std::memory_order_acquire))
      return slot;
  }
  return -1;
}

void ThreadPool::publish(unsigned slot, int64_t helpers) {
  open_ |= uint64_t{1} << slot;
  auto asleep = static_cast<int64_t>(sleepers_.load());
  if (asleep == 0) return;
  ++signals_;
  if (helpers >= asleep) return signals_.notify_all();
  for (int64_t i = 0; i < helpers; ++i) signals_.notify_one();
}

void ThreadPool::parallel_for(int64_t n, int64_t grain, Chunk chunk) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t chunks = n / grain + (n % grain != 0);
  const int claimed = chunks > 1 && size_ > 1 ? claim() : -1;
  if (claimed < 0) {
    for (int64_t i = 0; i < chunks; ++i) chunk(i * grain, i + 1 == chunks ? n : (i + 1) * grain, 0);
    return;
  }
  const auto slot = static_cast<unsigned>(claimed);
  const uint64_t bit = uint64_t{1} << slot;
  Loop& loop = loops_[slot];
  loop.n = n, loop.grain = grain, loop.chunks = chunks;
  loop.chunk = &chunk;
  loop.observer = current_observer;
  loop.float_mode = float_mode();
  loop.failed.store(false, std::memory_order_relaxed);
  loop.arrivals.store(0, std::memory_order_relaxed);
  loop.next.store(0, std::memory_order_relaxed);
  publish(slot, std::min<int64_t>(chunks, size_) - 1);
  loop.run(0);
  open_ &= ~bit;
  auto left = [&loop] { return loop.helpers.load() == 0; };
  if (!spin_until(left, kPatience))
    for (uint32_t inside; (inside = loop.helpers.load()) != 0;) loop.helpers.wait(inside);
  std::exception_ptr error = std::exchange(loop.error, nullptr);
  claimed_.fetch_and(~bit, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

}  // namespace ingot
