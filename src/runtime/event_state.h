#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "ingot/error.h"
#include "ingot/stream.h"

namespace ingot {

// One point in the order of a stream, reached once.
class EventPoint {
 public:
  // `worker` is the thread that will reach it.
  explicit EventPoint(std::thread::id worker) : worker_(worker) {}

  void reach(std::optional<Error> error);  // the one of the work before it, if that failed
  bool is_reached() const;
  void wait() const;                   // does not throw for that error
  std::optional<Error> error() const;  // once reached
  void refuse_own_thread() const;      // throws where wait() would never return

 private:
  const std::thread::id worker_;
  mutable std::mutex mutex_;
  mutable std::condition_variable reached_;
  bool is_reached_ = false;
  std::optional<Error> error_;
};

struct Event::State {
  std::shared_ptr<EventPoint> last() const;  // null: never recorded
  void set(std::shared_ptr<EventPoint> point);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<EventPoint> last_;
};

}  // namespace ingot
