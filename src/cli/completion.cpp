#include "cli/completion.h"

#include <CLI/CLI.hpp>

namespace ingot::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& name : o->get_snames()) out.push_back("-" + name);
    for (const std::string& name : o->get_lnames()) out.push_back("--" + name);
  }
  return out;
}

// "a|b|c" in the help are the choices of an option.
std::string choices(const CLI::Option& option) {
  std::string text = option.get_type_name();
  if (text.find('|') == std::string::npos) return "";
  std::replace(text.begin(), text.end(), '|', ' ');
  return text;
}

std::string value_cases(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* o : app.get_options())
    if (const std::string values = choices(*o); !values.empty())
      out += fmt::format("        {}:--{}) words=\"{}\" ;;\n", app.get_name(), o->get_lnames().at(0), values);
  return out;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> commands;
  std::string options, values;
  for (const CLI::App* command : app.get_subcommands({})) {
    commands.push_back(command->get_name());
    options += fmt::format("        {}) words=\"{}\" ;;\n", command->get_name(),
                           fmt::join(option_names(*command), " "));
    values += value_cases(*command);
  }
  const std::string names = fmt::format("{}", fmt::join(commands, " "));
  return fmt::format(R"(# bash completion for ingot; made by 'ingot completion bash'
_ingot() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}"
  local words=""
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{0}" -- "$current"))
    return
  fi
  case "$command:$previous" in
        help:*) words="{0}" ;;
        completion:*) words="bash" ;;
{1}  esac
  if [[ -z $words && $current == -* ]]; then
    case "$command" in
{2}    esac
  fi
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -F _ingot ingot
)",
                     names, values, options);
}

}  // namespace ingot::cli
