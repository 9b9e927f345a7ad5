#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/function_ref.h"

namespace ingot {

// Is told how threads of a pool helped with loops.
class LoopObserver {
 public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~LoopObserver() = default;
  // `worker` began and ended its share of a loop, the caller of which waits; called on the worker, by several
  // at once. Workers are numbered from 0. Must not throw.
  virtual void helped(int worker, Time begin, Time end) noexcept = 0;
};

// While it lives, loops that this thread starts report to `observer`.
class ObservedLoops {
 public:
  explicit ObservedLoops(LoopObserver& observer);
  ~ObservedLoops();
  ObservedLoops(const ObservedLoops&) = delete;
  ObservedLoops& operator=(const ObservedLoops&) = delete;

 private:
  LoopObserver* const outer_;
};

// Threads that share out the chunks of loops: a loop starts and ends within about a microsecond, allocates
// nothing, and costs nothing when nobody is free to help. Idle threads watch for work for a few microseconds,
// then sleep in the kernel. Any number of callers may share one pool, and a chunk may start a loop of its
// own: every caller works on its own loop and only ever waits for chunks that already run on other threads,
// so nothing can deadlock.
class ThreadPool {
 public:
  // `threads` counts the caller of parallel_for, so that many minus one are started; 0 means
  // available_cpus(). They inherit the affinity of the constructing thread and block all signals. Throws
  // Error(device) where the system refuses a thread.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();  // no loop may be running
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // `thread` is in [0, size()) and differs between threads that work on this loop at the same time: an index
  // of scratch memory that belongs to the caller.
  using Chunk = FunctionRef<void(int64_t begin, int64_t end, int thread)>;

  // Calls chunk for [0, grain), [grain, 2 * grain), ... up to n, in any order and on any threads, the
  // caller's included; returns when all are done. The chunks depend on n and grain alone, so what is computed
  // per chunk is the same at every thread count; they run in the caller's floating-point mode
  // (base/float_control.h). n <= 0 does nothing; a grain below 1 counts as 1.
  //
  // What a chunk throws stops chunks not yet begun and is rethrown here, one of them if there are several.
  void parallel_for(int64_t n, int64_t grain, Chunk chunk);

  // While one lives, loops follow each other closely: workers watch for the next one for up to half a
  // millisecond before they sleep. Without one, for a few microseconds.
  class Expectation {
   public:
    explicit Expectation(ThreadPool& pool);
    ~Expectation() { --pool_.expected_; }
    Expectation(const Expectation&) = delete;
    Expectation& operator=(const Expectation&) = delete;

   private:
    ThreadPool& pool_;
  };

 private:
  struct Loop;

  void start(int workers);
  void stop();
  void work(unsigned worker);
  void wait_for_loop();
  bool join(unsigned slot, unsigned worker);
  int claim();
  void publish(unsigned slot, int64_t helpers);

  const int size_;
  // A loop in progress takes one of 64 slots, which never go away, so a thread that looks at one too late
  // does no harm. Bit i of a mask is slot i.
  const std::unique_ptr<Loop[]> loops_;
  alignas(64) std::atomic<uint64_t> claimed_ = 0;   // has a caller
  alignas(64) std::atomic<uint64_t> open_ = 0;      // may have chunks to begin
  alignas(64) std::atomic<uint32_t> sleepers_ = 0;  // workers that sleep, or are about to
  std::atomic<uint32_t> signals_ = 0;               // changes to wake them
  std::atomic<uint32_t> expected_ = 0;              // Expectations alive
  std::atomic<int> caller_processor_ = -1;          // of the last Expectation
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> workers_;
};

// The pool of this many threads (0: available_cpus()) on these CPUs (none: the calling thread's), made at the
// first call and shared by all who ask for an equal one until the last lets it go. Thread-safe.
std::shared_ptr<ThreadPool> shared_thread_pool(int threads, std::span<const int> cpus = {});

}  // namespace ingot
