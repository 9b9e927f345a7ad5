#pragma once

#include "base/reported.h"
#include "ingot/error.h"
#include "runtime/context_state.h"
#include "runtime/engine_state.h"

namespace ingot {

// Marks a context as used by this thread. Every call of a Context but stats() runs inside one; a second
// thread is told rather than let in.
class Use {
 public:
  // Calls `call` as the one user, and reports the Error that it throws.
  template <class Call>
  static decltype(auto) of(Context::State& state, Call&& call) {
    return reported(state.diagnostics, [&]() -> decltype(auto) {
      Use use(state);
      return call();
    });
  }

  explicit Use(Context::State& state) : state_(state) {
    if (!state.busy.test_and_set(std::memory_order_acquire)) return;
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "context",
                 .name = state.name,
                 .expected = "one thread at a time",
                 .observed = "a call while another thread is in one",
                 .remedy = "Create one context for each thread."});
  }
  ~Use() { state_.busy.clear(std::memory_order_release); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Context::State& state_;
};

}  // namespace ingot
