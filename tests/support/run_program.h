#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ingot {

struct ProgramResult {
  int exit_code = -1;  // minus the signal where one ended it
  std::string out;
  std::string err;
};

// Runs a program to its end, or kills it after a minute. `in_child` is called between fork and exec, to set
// limits. Standard input is empty.
ProgramResult run_program(const std::vector<std::string>& command,
                          const std::function<void()>& in_child = {});

// The same, with `while_running(pid)` called once it has written something to standard error.
ProgramResult run_program_and(const std::vector<std::string>& command,
                              const std::function<void(int pid)>& while_running);

}  // namespace ingot
