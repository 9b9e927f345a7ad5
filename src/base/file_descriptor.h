#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string_view>
#include <utility>

namespace ingot {

// Owns a file descriptor; false where opening failed.
class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  ~UniqueFd() { reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// Throws Error(invalid_argument) that says what is there unless `mode`, from stat(), is that of a regular
// file.
void require_regular(mode_t mode, std::string_view object, std::string_view path);

}  // namespace ingot
