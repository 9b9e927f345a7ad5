#pragma once

#include <mutex>
#include <set>
#include <string>

#include "device/cpu/plan.h"
#include "ingot/logger.h"

namespace ingot::cpu {

// Logs which ops of a program run on the reference device for want of a kernel, each op once.
class FallbackLog {
 public:
  explicit FallbackLog(Diagnostics diagnostics) : diagnostics_(std::move(diagnostics)) {}
  void add(const Plan& plan);

 private:
  const Diagnostics diagnostics_;
  std::mutex mutex_;
  std::set<std::string> logged_;
};

}  // namespace ingot::cpu
