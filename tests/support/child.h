#pragma once

#include <sys/types.h>

#include <functional>

namespace ingot {

// A forked process that runs `body` and exits; for what must not happen to the test program itself.
// Destruction kills and reaps it. `body` must not use threads of the parent; failed expectations in it are
// not seen, so it returns whether all was well.
class Child {
 public:
  explicit Child(const std::function<bool()>& body);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  bool succeeded();  // waits for its end; whether `body` returned true
  void kill();       // with SIGKILL; returns when it is gone

 private:
  pid_t pid_;
};

inline bool runs_in_child(const std::function<bool()>& body) { return Child(body).succeeded(); }

}  // namespace ingot
