#include "support/run_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace ingot {
namespace {

using Pipe = std::array<int, 2>;

[[noreturn]] void become(const std::vector<std::string>& command, const Pipe& out, const Pipe& err,
                         const std::function<void()>& in_child) {
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(out[1], STDOUT_FILENO);
  dup2(err[1], STDERR_FILENO);
  if (in_child) in_child();
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

// Reads both until both are closed; false after a minute.
bool collect(int out, int err, ProgramResult& result, const std::function<void()>& on_error_text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::array<pollfd, 2> files = {pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    if (poll(files.data(), files.size(), 1000) <= 0) continue;
    for (pollfd& file : files) {
      if (file.fd < 0 || file.revents == 0) continue;
      char buffer[4096];
      const ssize_t got = read(file.fd, buffer, sizeof buffer);
      if (got <= 0) {
        file.fd = -1;
        continue;
      }
      const bool is_error = file.fd == err;
      (is_error ? result.err : result.out).append(buffer, static_cast<size_t>(got));
      if (is_error && on_error_text) on_error_text();
    }
  }
  return true;
}

ProgramResult run(const std::vector<std::string>& command, const std::function<void()>& in_child,
                  const std::function<void(int)>& while_running) {
  ProgramResult result;
  Pipe out{}, err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) {
    ADD_FAILURE() << "no pipe";
    return result;
  }
  const pid_t pid = fork();
  if (pid == 0) become(command, out, err, in_child);
  close(out[1]);
  close(err[1]);
  bool told = !while_running;
  const auto tell = [&] {
    if (!std::exchange(told, true)) while_running(pid);
  };
  if (!collect(out[0], err[0], result, tell)) {
    ADD_FAILURE() << command[0] << " did not end within a minute";
    kill(pid, SIGKILL);
  }
  close(out[0]);
  close(err[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return result;
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& command, const std::function<void()>& in_child) {
  return run(command, in_child, {});
}

ProgramResult run_program_and(const std::vector<std::string>& command,
                              const std::function<void(int)>& while_running) {
  return run(command, {}, while_running);
}

}  // namespace ingot
