#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "ingot/error.h"
#include "ingot/runtime.h"
#include "runtime/context_state.h"

namespace ingot {

struct Stream::State {
  // One inference. Exactly one of the two is called, on the stream's thread.
  struct Job {
    std::shared_ptr<Context::State> context;
    std::shared_ptr<const Bindings> bindings;

    void run() const;  // may throw Error and nothing else
    void skip() const { context->skip(); }
  };

  State();
  ~State() { close(); }

  void push(Job job);  // throws invalid_argument when closed
  void synchronize();
  void close();

 private:
  void work();
  bool is_empty() const { return next_ == jobs_.size(); }
  Job take();
  void finish(const Job& job);
  void refuse_own_thread(const char* call) const;

  std::mutex mutex_;
  std::condition_variable wake_;  // a job was pushed, or the end has come
  std::condition_variable done_;  // a job has ended
  // In the order pushed; those before `next_` have been taken. Emptied when all have, so that it grows to the
  // largest number that ever waited and then allocates no more.
  std::vector<Job> jobs_;
  size_t next_ = 0;
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
