#include "base/memory_change.h"

#include <fmt/format.h>

namespace ingot {
namespace {

std::string change_text(uint64_t before, uint64_t now) {
  return fmt::format("{:+}, now {}", static_cast<int64_t>(now - before), now);
}

}  // namespace

MemoryChange::MemoryChange(Diagnostics log, std::shared_ptr<const MemoryAccount> account,
                           std::string operation)
    : log_(std::move(log)), account_(std::move(account)), operation_(std::move(operation)) {
  if (!log_.wants(LogLevel::info)) return;
  accounted_ = account_->total();
  resident_ = resident_memory().now;
}

void MemoryChange::finish() const {
  if (!log_.wants(LogLevel::info)) return;
  log_.log(LogLevel::info, fmt::format("memory: {}: accounted {}; resident {} bytes", operation_,
                                       change_text(accounted_, account_->total()),
                                       change_text(resident_, resident_memory().now)));
}

}  // namespace ingot
