#include "ingot/logger.h"

#include <cstdio>
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

void StderrLogger::log(LogLevel level, std::string_view message) noexcept {
  const std::string_view name = to_string(level);
  // One call, so that lines of several threads do not mix.
  fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(name.size()), name.data(),
          static_cast<int>(message.size()), message.data());
}

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
