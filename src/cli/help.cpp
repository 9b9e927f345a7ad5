#include "cli/help.h"

#include <CLI/CLI.hpp>

#include "ingot/version.h"

namespace ingot::cli {
namespace {

constexpr size_t kWidth = 80;

// Breaks paragraphs into lines; line breaks in the text are kept.
std::string wrapped(std::string_view text, size_t indent) {
  std::string out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    while (indent + line.size() > kWidth) {
      const size_t space = line.rfind(' ', kWidth - indent);
      if (space == std::string_view::npos) break;
      out += std::string(indent, ' ') + std::string(line.substr(0, space)) + "\n";
      line = line.substr(space + 1);
    }
    out += line.empty() ? "\n" : std::string(indent, ' ') + std::string(line) + "\n";
    begin = end + 1;
  }
  return out;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string synopsis(const ManualPage& page, const CLI::App& app) {
  std::string out = fmt::format("ingot {} [OPTIONS]", page.name);
  for (const CLI::Option* o : app.get_options())
    if (o->get_positional()) out += " " + o->get_name(true);
  return out;
}

std::string option_list(const CLI::App& app, bool positional) {
  std::string out;
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_positional() != positional) continue;
    std::string head = o->get_name(positional, !positional);
    if (!positional && takes_value(*o)) head += " " + o->get_type_name();
    out += wrapped(head, 4) + wrapped(o->get_description(), 10);
  }
  return out;
}

}  // namespace

std::string overview_page(std::span<const ManualPage> pages) {
  std::string out = fmt::format(
      "ingot {}: compiles trained models into portable engine files and runs them\n\nUsage: ingot COMMAND "
      "[OPTIONS]\n\nCommands:\n",
      version());
  for (const ManualPage& page : pages) out += fmt::format("  {:<15}{}\n", page.name, page.summary);
  out += fmt::format("  {:<15}{}\n", "help", "show the manual page of a command");
  out += fmt::format("  {:<15}{}\n", "completion", "print a script that completes command lines in bash");
  out +=
      "\nExample:\n  ingot compile model.onnx -o model.ingot\n  ingot exec model.ingot --random-seed 1 "
      "--output "
      "results\n\nExit codes: 0 success, 1 failure, 2 wrong usage, 130 stopped by Ctrl-C.\n'ingot help "
      "COMMAND' "
      "explains a command.\n";
  return out;
}

std::string manual_page(const ManualPage& page, const CLI::App& app) {
  std::string out = fmt::format("NAME\n    ingot {} - {}\n\nSYNOPSIS\n    {}\n\nDESCRIPTION\n", page.name,
                                page.summary, synopsis(page, app));
  out += wrapped(page.description, 4);
  if (const std::string list = option_list(app, true); !list.empty()) out += "\nARGUMENTS\n" + list;
  out += "\nOPTIONS\n" + option_list(app, false);
  out += "\nEXAMPLE\n" + wrapped(page.example, 4);
  out += "\nEXIT STATUS\n" + wrapped(page.exit_codes, 4);
  return out;
}

}  // namespace ingot::cli
