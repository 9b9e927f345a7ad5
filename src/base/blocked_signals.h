#pragma once

#include <pthread.h>
#include <signal.h>

namespace ingot {

// Blocks all signals for the calling thread while it lives. A thread inherits that from the one that starts
// it: signals stay with the application's own threads, since a handler that runs on one of ours would
// surprise it.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace ingot
