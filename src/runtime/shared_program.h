#pragma once

#include <memory>
#include <mutex>

#include "device/device.h"

namespace ingot {

// The program that inferences of an engine begin with from now on. It is replaced while others run on the one
// before, which they keep alive.
class SharedProgram {
 public:
  std::shared_ptr<const Program> load() const {
    const std::lock_guard lock(mutex_);
    return program_;
  }
  void operator=(std::shared_ptr<const Program> program) {
    const std::lock_guard lock(mutex_);
    program_.swap(program);
  }
  explicit operator bool() const { return load() != nullptr; }
  std::shared_ptr<const Program> operator->() const { return load(); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Program> program_;
};

}  // namespace ingot
