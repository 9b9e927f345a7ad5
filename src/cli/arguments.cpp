#include "cli/arguments.h"

#include <CLI/CLI.hpp>

namespace ingot::cli {

void Arguments::positional(const std::string& value, std::string& out, const std::string& help) {
  app_.add_option(value, out, help)->required();
}

void Arguments::optional_positional(const std::string& value, std::string& out, const std::string& help) {
  app_.add_option(value, out, help);
}

void Arguments::flag(const std::string& names, bool& out, const std::string& help) {
  app_.add_flag(names, out, help);
}

void Arguments::option(const std::string& names, const std::string& value, std::string& out,
                       const std::string& help, const std::vector<std::string>& choices) {
  CLI::Option* option = app_.add_option(names, out, help)->type_name(value);
  if (!choices.empty())
    option->check(CLI::IsMember(choices).description(""))
        ->type_name(fmt::format("{}", fmt::join(choices, "|")));
}

void Arguments::option(const std::string& names, const std::string& value, int64_t& out,
                       const std::string& help, int64_t low, int64_t high) {
  app_.add_option(names, out, help)->check(CLI::Range(low, high).description(""))->type_name(value);
}

void Arguments::repeated(const std::string& names, const std::string& value, std::vector<std::string>& out,
                         const std::string& help) {
  app_.add_option(names, out, help)->type_name(value)->expected(1, -1)->allow_extra_args(false)->take_all();
}

}  // namespace ingot::cli
