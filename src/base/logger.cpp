#include "ingot/logger.h"

#include <new>

namespace ingot {

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::error: return "error";
    case LogLevel::warning: return "warning";
    case LogLevel::info: return "info";
    case LogLevel::verbose: return "verbose";
  }
  return "unknown";
}

Logger::~Logger() = default;

void ErrorRecorder::record(const ErrorParts& error) noexcept {
  std::lock_guard lock(mutex_);
  ++count_;
  if (errors_.size() >= capacity_) return;
  try {
    errors_.push_back(error);
  } catch (const std::bad_alloc&) {
    // Counted though not kept; recording must not replace the error that is on its way.
  }
}

std::vector<ErrorParts> ErrorRecorder::errors() const {
  std::lock_guard lock(mutex_);
  return errors_;
}

size_t ErrorRecorder::count() const {
  std::lock_guard lock(mutex_);
  return count_;
}

void ErrorRecorder::clear() {
  std::lock_guard lock(mutex_);
  errors_.clear();
  count_ = 0;
}

void Diagnostics::report(const Error& error) const noexcept {
  if (recorder) {
    recorder->record(error.parts());
  } else {
    log(LogLevel::error, error.what());
  }
}

}  // namespace ingot
