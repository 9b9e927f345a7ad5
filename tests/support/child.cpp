#include "support/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace ingot {
namespace {

int exit_status(const std::function<bool()>& body) {
  try {
    return body() ? 0 : 1;
  } catch (const std::exception& e) {
    fprintf(stderr, "in the child: %s\n", e.what());
    return 2;
  }
}

}  // namespace

Child::Child(const std::function<bool()>& body) : pid_(fork()) {
  if (pid_ < 0) ADD_FAILURE() << "fork failed";
  if (pid_ == 0) _exit(exit_status(body));
}

Child::~Child() {
  if (pid_ > 0) kill();
}

bool Child::succeeded() {
  int status = -1;
  if (pid_ > 0) waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void Child::kill() {
  ::kill(pid_, SIGKILL);
  succeeded();
}

}  // namespace ingot
