#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/stream_memory.h"
#include "runtime/stream_work.h"

namespace ingot {

struct Stream::State {
  enum class Kind : uint8_t { worker, in_line };

  State(Kind kind, const StreamOptions& options);
  ~State() { close(); }

  // Queues it, or does it and throws its error. Throws invalid_argument when closed.
  void push(Work work);
  void require_open() const;
  bool is_inline() const { return kind_ == Kind::in_line; }
  void synchronize();
  bool is_idle() const;
  void close();
  std::shared_ptr<EventPoint> new_point() const { return std::make_shared<EventPoint>(worker_id_); }

  void* allocate(size_t bytes);
  void free(void* memory);
  size_t reserved_bytes() const;
  void trim();
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  void start(const std::vector<int>& cpus);
  void work();
  bool is_empty() const { return next_ == queue_.size(); }
  Work take();
  void finish(const Work& work);
  void fail(const Error& error);
  void refuse_own_thread(const char* call) const;
  void require_open_locked() const;

  const Kind kind_;
  const Diagnostics diagnostics_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;  // work was given, or the end has come
  std::condition_variable done_;  // work has ended
  // In the order given; what is before `next_` has been taken. Emptied when all has, so that it grows to the
  // largest number that ever waited and then allocates no more.
  std::vector<Work> queue_;
  size_t next_ = 0;
  uint64_t given_ = 0;
  uint64_t ended_ = 0;
  std::optional<Error> error_;  // the first since the last synchronize()
  uint64_t skipped_ = 0;        // behind it
  bool closing_ = false;
  StreamMemory memory_;
  std::mutex close_mutex_;  // two threads may close at once, one can join
  std::thread worker_;
  std::thread::id worker_id_;  // worker_ itself is not to be read while another thread joins it
};

}  // namespace ingot
