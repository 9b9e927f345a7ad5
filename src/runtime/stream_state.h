#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "ingot/error.h"
#include "ingot/runtime.h"

namespace ingot {

struct Stream::State {
  // One inference. Exactly one of the two is called, on the stream's thread.
  struct Job {
    std::function<void()> run;   // may throw Error and nothing else
    std::function<void()> skip;  // does not throw
  };

  State();
  ~State() { close(); }

  void push(Job job);  // throws invalid_argument when closed
  void synchronize();
  void close();

 private:
  void work();
  void finish(const Job& job);
  void refuse_own_thread(const char* call) const;

  std::mutex mutex_;
  std::condition_variable wake_;  // a job was pushed, or the end has come
  std::condition_variable done_;  // a job has ended
  std::deque<Job> jobs_;
  uint64_t pushed_ = 0;
  uint64_t ended_ = 0;
  std::optional<Error> error_;  // the first since the last synchronize()
  uint64_t skipped_ = 0;        // jobs behind it
  bool closing_ = false;
  std::mutex close_mutex_;  // two threads may close at once, one can join
  std::thread worker_;
  std::thread::id worker_id_;  // worker_ itself is not to be read while another thread joins it
};

}  // namespace ingot
