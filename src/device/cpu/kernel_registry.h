#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace ingot::cpu {

// Code that can be called, in memory that it keeps.
struct LoadedKernel {
  std::span<const std::byte> code;
  std::shared_ptr<const void> memory;
  uint64_t make_microseconds = 0;  // that it took to compile, as far as known
};

// The kernels that this process has, by key; they live as long as somebody holds them. Thread-safe.
class KernelRegistry {
 public:
  static KernelRegistry& of_process();

  // Null also while a thread makes it: does not wait.
  std::shared_ptr<const LoadedKernel> find(const std::string& key);
  // What is there or `make` gives. While one thread makes a kernel, others that want it wait; when it fails,
  // the next one tries.
  std::shared_ptr<const LoadedKernel> get(const std::string& key, const std::function<LoadedKernel()>& make);

 private:
  struct Slot {
    std::mutex mutex;
    std::weak_ptr<const LoadedKernel> kernel;
  };

  std::shared_ptr<Slot> slot_of(const std::string& key);
  void forget_unused();

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>, std::less<>> slots_;
  size_t sweep_at_ = 1024;
};

}  // namespace ingot::cpu
