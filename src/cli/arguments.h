#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the name is that of CLI11
class App;
}

namespace ingot::cli {

// A command line that cannot be understood: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Declares the options of one command. The variables given are set by parsing and must outlive it; what they
// hold before is the default. Names are as in "-o,--output". `value` is the placeholder in the help, and
// `choices`, where given, are the only values allowed.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(app) {}

  void positional(const std::string& value, std::string& out, const std::string& help);
  void optional_positional(const std::string& value, std::string& out, const std::string& help);
  void flag(const std::string& names, bool& out, const std::string& help);
  void option(const std::string& names, const std::string& value, std::string& out, const std::string& help,
              const std::vector<std::string>& choices = {});
  // Whole numbers within [low, high].
  void option(const std::string& names, const std::string& value, int64_t& out, const std::string& help,
              int64_t low, int64_t high);
  // May be given any number of times, one value each.
  void repeated(const std::string& names, const std::string& value, std::vector<std::string>& out,
                const std::string& help);

 private:
  CLI::App& app_;
};

}  // namespace ingot::cli
