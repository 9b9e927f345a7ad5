#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/logger.h"

namespace ingot::cli {

class Arguments;

constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kUsage = 2;
constexpr int kInterrupted = 130;  // as a shell reports a process ended by SIGINT

// The words of a manual page; options are added from the declaration.
struct ManualPage {
  std::string_view name;
  std::string_view summary;      // one line, no full stop
  std::string_view description;  // paragraphs
  std::string_view example;      // lines to type, and what they do
  std::string_view exit_codes = "0 success, 1 failure, 2 wrong usage";
};

class Command {
 public:
  virtual ~Command() = default;
  virtual ManualPage manual() const = 0;
  virtual void declare(Arguments& arguments) = 0;
  // Returns the exit code; throws Error or UsageError.
  virtual int run(Logger& logger) = 0;
};

// In the order of the overview.
std::vector<std::unique_ptr<Command>> all_commands();

// One per file.
std::unique_ptr<Command> bench_command();
std::unique_ptr<Command> compile_command();
std::unique_ptr<Command> exec_command();
std::unique_ptr<Command> import_report_command();
std::unique_ptr<Command> inspect_command();
std::unique_ptr<Command> kernel_cache_command();
std::unique_ptr<Command> refit_command();
std::unique_ptr<Command> validity_command();
std::unique_ptr<Command> verify_command();
std::unique_ptr<Command> version_command();

}  // namespace ingot::cli
