#include "cli/child_process.h"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#include "base/os_error.h"
#include "ingot/error.h"

extern char** environ;

namespace ingot::cli {
namespace {

// The file actions of a child whose standard input and output are `fd`.
class ChildFiles {
 public:
  explicit ChildFiles(int fd) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, fd, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, fd, STDOUT_FILENO);
  }
  ~ChildFiles() { posix_spawn_file_actions_destroy(&actions_); }
  ChildFiles(const ChildFiles&) = delete;
  ChildFiles& operator=(const ChildFiles&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command) : name_(command.at(0)) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    throw_os_error(errno, "program", name_, "start");
  socket_ = UniqueFd(pair[0]);
  const UniqueFd theirs(pair[1]);
  const ChildFiles files(theirs.get());
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int error = posix_spawnp(&pid_, words[0], files.get(), nullptr, words.data(), environ);
  if (error != 0) throw_os_error(error, "program", name_, "start");
}

ChildProcess::~ChildProcess() {
  socket_.reset();
  waitpid(pid_, nullptr, 0);
}

void ChildProcess::write_line(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count = send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_ended();
    sent += static_cast<size_t>(count);
  }
}

std::string ChildProcess::read_line() {
  for (;;) {
    if (const size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    std::array<char, 65536> buffer{};
    const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_ended();
    received_.append(buffer.data(), static_cast<size_t>(count));
  }
}

void ChildProcess::fail_ended() const {
  throw Error({.code = ErrorCode::device,
               .object = "program",
               .name = name_,
               .expected = "an answer",
               .observed = "it ended",
               .remedy = "See its messages above."});
}

}  // namespace ingot::cli
