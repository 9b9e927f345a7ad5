#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ingot {

// Threads that share out the chunks of loops. Idle threads sleep in the kernel. Any number of callers may
// share one pool, and a chunk may start a loop of its own: every caller works on its own loop and only ever
// waits for chunks that already run on other threads, so nothing can deadlock.
class ThreadPool {
 public:
  // `threads` counts the caller of parallel_for, so that many minus one are started; 0 means
  // available_cpus(). They inherit the affinity of the constructing thread and block all signals. Throws
  // Error(device) where the system refuses a thread.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();  // no loop may be running
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls chunk(begin, end) for [0, grain), [grain, 2 * grain), ... up to n, in any order and on any threads,
  // the caller's included; returns when all are done. The chunks depend on n and grain alone, so what is
  // computed per chunk is the same at every thread count. n <= 0 does nothing; a grain below 1 counts as 1.
  //
  // What a chunk throws stops chunks not yet begun and is rethrown here, the first one if there are several.
  void parallel_for(int64_t n, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& chunk);

 private:
  struct Loop;

  void start(int workers);
  void stop();
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;      // a loop was added, or the end has come
  std::condition_variable finished_;  // a worker left a loop
  std::deque<Loop*> loops_;           // those that may have chunks to begin; the newest, innermost, last
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace ingot
