#pragma once

#include "ingot/logger.h"

namespace ingot {

// For tests that have no interest in messages. Lives until the process ends.
inline Logger& quiet_logger() {
  class Quiet : public Logger {
    void log(LogLevel, std::string_view) noexcept override {}
  };
  static Quiet logger;
  return logger;
}

}  // namespace ingot
