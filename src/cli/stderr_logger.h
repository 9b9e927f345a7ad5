#pragma once

#include "ingot/logger.h"

namespace ingot::cli {

// One line a message: "warning: ...".
class StderrLogger : public Logger {
 public:
  using Logger::Logger;

 protected:
  void log(LogLevel level, std::string_view message) noexcept override;
};

}  // namespace ingot::cli
