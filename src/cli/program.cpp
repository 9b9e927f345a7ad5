#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <new>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/output.h"
#include "ingot/error.h"

namespace ingot::cli {
namespace {

constexpr const char* kLevels[] = {"error", "warning", "info", "verbose"};

class Program {
 public:
  Program() {
    app_.name("ingot");
    app_.set_help_flag("-h,--help", "show this and exit");
    app_.require_subcommand(0, 1);
    for (auto& command : commands_) {
      const ManualPage page = command->manual();
      CLI::App* app = app_.add_subcommand(std::string(page.name), std::string(page.summary));
      app->set_help_flag("-h,--help", "Show this page.");
      Arguments arguments(*app);
      command->declare(arguments);
      arguments.option("--log-level", "LEVEL", level_, "What the library tells on standard error.",
                       {std::begin(kLevels), std::end(kLevels)});
    }
    help_ = app_.add_subcommand("help", "show the manual page of a command");
    help_->add_option("COMMAND", topic_, "its name");
    completion_ = app_.add_subcommand("completion", "print a script that completes command lines in a shell");
    completion_->add_option("SHELL", shell_, "bash")
        ->required()
        ->check(CLI::IsMember({"bash"}).description(""))
        ->type_name("bash");
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return show_help(chosen_name());
    } catch (const CLI::ParseError& e) {
      return fail_usage(e.what());
    }
    if (help_->parsed()) return show_help(topic_);
    if (completion_->parsed()) return print_text(bash_completion(app_)), kSuccess;
    for (auto& command : commands_)
      if (app_.got_subcommand(std::string(command->manual().name))) return run(*command);
    print_text(overview());
    return argc > 1 ? kSuccess : kUsage;
  }

 private:
  int run(Command& command) {
    StderrLogger logger(log_level());
    try {
      const int code = command.run(logger);
      flush_output();
      return code;
    } catch (const UsageError& e) {
      return fail_usage(e.what());
    } catch (const Error& e) {
      print_error(chosen_name(), e);
      return e.code() == ErrorCode::cancelled ? kInterrupted : kFailure;
    } catch (const std::bad_alloc&) {
      print_error(chosen_name(), Error({.code = ErrorCode::out_of_memory,
                                        .observed = "not enough memory",
                                        .remedy = "Free memory or raise the limit of the process."}));
      return kFailure;
    }
  }

  LogLevel log_level() const {
    for (LogLevel level : {LogLevel::error, LogLevel::info, LogLevel::verbose})
      if (to_string(level) == level_) return level;
    return LogLevel::warning;
  }

  std::string chosen_name() const {
    for (const auto& command : commands_)
      if (app_.got_subcommand(std::string(command->manual().name)))
        return std::string(command->manual().name);
    return completion_->parsed() ? "completion" : "";
  }

  int fail_usage(const std::string& sentence) const {
    const std::string name = chosen_name();
    fmt::print(stderr, "ingot{}{}: {}\n", name.empty() ? "" : " ", name, sentence);
    fmt::print(stderr, "  See 'ingot help{}{}'.\n", name.empty() ? "" : " ", name);
    return kUsage;
  }

  int show_help(const std::string& name) {
    for (auto& command : commands_)
      if (command->manual().name == name) {
        print_text(manual_page(command->manual(), *app_.get_subcommand(name)));
        return kSuccess;
      }
    if (!name.empty() && name != "help" && name != "completion")
      return fail_usage("there is no command '" + name + "'");
    print_text(overview());
    return kSuccess;
  }

  std::string overview() const {
    std::vector<ManualPage> pages;
    for (const auto& command : commands_) pages.push_back(command->manual());
    return overview_page(pages);
  }

  CLI::App app_;
  std::vector<std::unique_ptr<Command>> commands_ = all_commands();
  CLI::App* help_ = nullptr;
  CLI::App* completion_ = nullptr;
  std::string level_ = "warning";
  std::string topic_;
  std::string shell_;
};

}  // namespace

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> out;
  out.push_back(compile_command());
  out.push_back(refit_command());
  out.push_back(exec_command());
  out.push_back(bench_command());
  out.push_back(inspect_command());
  out.push_back(verify_command());
  out.push_back(validity_command());
  out.push_back(import_report_command());
  out.push_back(kernel_cache_command());
  out.push_back(version_command());
  return out;
}

int run_program(int argc, char** argv) {
  signal(SIGXFSZ, SIG_IGN);  // a file size limit is then an error of the write, which has a message
  try {
    return Program().run(argc, argv);
  } catch (const Error& e) {  // standard output could not be written
    print_error("", e);
  } catch (const std::exception& e) {
    fmt::print(stderr, "ingot: internal error: {}\n", e.what());
  }
  return kFailure;
}

}  // namespace ingot::cli
