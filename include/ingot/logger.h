#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "ingot/error.h"
#include "ingot/export.h"

namespace ingot {

// How much a message matters, most first.
enum class LogLevel {
  error,    // an operation failed
  warning,  // it works, but not as was probably meant: a fallback, a rejected cache entry
  info,     // what a person who watches wants to know: what was built, loaded, chosen
  verbose,  // what explains the above, in detail
};

INGOT_API std::string_view to_string(LogLevel level);

// Where messages of the library go. The library never prints: the application implements log(). One logger
// serves a top-level object (a builder, a runtime) and everything created from it, and must outlive them all.
class INGOT_API Logger {
 public:
  explicit Logger(LogLevel level = LogLevel::warning) : level_(level) {}
  virtual ~Logger();

  // Messages that matter less than this are not passed on. Any thread, any time.
  LogLevel level() const noexcept { return level_.load(std::memory_order_relaxed); }
  void set_level(LogLevel level) noexcept { level_.store(level, std::memory_order_relaxed); }
  // Ask before a costly message is put together.
  bool wants(LogLevel level) const noexcept { return level <= this->level(); }

  // Passes the message to log() if its level is wanted. Any thread.
  void write(LogLevel level, std::string_view message) noexcept {
    if (wants(level)) log(level, message);
  }

 protected:
  // One message, without a final newline; valid during the call only. Called from several threads at once,
  // worker threads of the library among them; must not call back into the library.
  virtual void log(LogLevel level, std::string_view message) noexcept = 0;

 private:
  std::atomic<LogLevel> level_;
};

// Writes each message as one line to standard error: "warning: ...". For programs that have no log of their
// own.
class INGOT_API StderrLogger : public Logger {
 public:
  using Logger::Logger;

 protected:
  void log(LogLevel level, std::string_view message) noexcept override;
};

// Keeps the errors of an object and of everything created from it, for an application that asks later. Any
// thread.
class INGOT_API ErrorRecorder {
 public:
  // Keeps the first `capacity` errors: those that came first explain those that followed.
  explicit ErrorRecorder(size_t capacity = 64) : capacity_(capacity) {}

  void record(const ErrorParts& error) noexcept;

  std::vector<ErrorParts> errors() const;  // a copy, oldest first
  size_t count() const;                    // recorded since the last clear(), kept or not
  void clear();

 private:
  mutable std::mutex mutex_;
  const size_t capacity_;
  size_t count_ = 0;
  std::vector<ErrorParts> errors_;
};

// The logger and the recorder of a top-level object. Objects created from another copy its Diagnostics, with
// a recorder of their own where they are given one: that is how they inherit both. Either may be null. The
// recorder is kept alive, the logger is not.
struct INGOT_API Diagnostics {
  Logger* logger = nullptr;
  std::shared_ptr<ErrorRecorder> recorder;

  void log(LogLevel level, std::string_view message) const noexcept {
    if (logger) logger->write(level, message);
  }
  bool wants(LogLevel level) const noexcept { return logger && logger->wants(level); }

  // The same with this recorder, unless it is null.
  Diagnostics with(std::shared_ptr<ErrorRecorder> own) const {
    return {logger, own ? std::move(own) : recorder};
  }
  // Records the error; without a recorder it goes to the logger, at level error.
  void report(const Error& error) const noexcept;
};

}  // namespace ingot
