#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file_descriptor.h"

namespace ingot::cli {

// A program that answers lines with lines: its standard input and output are connected to this object, its
// standard error is ours.
class ChildProcess {
 public:
  // The program is looked up on PATH. Throws Error(not_found) where there is none, Error(device).
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();  // closes its input and waits for its end
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Both throw Error(device) when the program has ended.
  void write_line(const std::string& line);
  std::string read_line();

 private:
  [[noreturn]] void fail_ended() const;

  std::string name_;
  UniqueFd socket_;
  pid_t pid_ = -1;
  std::string received_;  // and not yet read
};

}  // namespace ingot::cli
