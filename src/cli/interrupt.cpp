#include "cli/interrupt.h"

#include <signal.h>

namespace ingot::cli {
namespace {

volatile sig_atomic_t interrupted = 0;

void set_handler(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

InterruptNote::InterruptNote() {
  interrupted = 0;
  set_handler([](int) { interrupted = 1; });
}

InterruptNote::~InterruptNote() { set_handler(SIG_DFL); }

bool InterruptNote::happened() { return interrupted != 0; }

}  // namespace ingot::cli
