#include "cli/stderr_logger.h"

#include <cstdio>

namespace ingot::cli {

void StderrLogger::log(LogLevel level, std::string_view message) noexcept {
  const std::string_view name = to_string(level);
  // One call, so that lines of several threads do not mix.
  fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(name.size()), name.data(),
          static_cast<int>(message.size()), message.data());
}

}  // namespace ingot::cli
