#include "ingot/version.h"

#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "ingot/runtime.h"

namespace ingot::cli {
namespace {

class VersionCommand : public Command {
 public:
  ManualPage manual() const override {
    return {
        .name = "version",
        .summary = "say what this Ingot is",
        .description =
            "Prints the version, the engine format it writes and the oldest it reads, the compiler it was "
            "built with, and the devices it has.",
        .example = "ingot version --json"};
  }

  void declare(Arguments& a) override { a.flag("--json", json_, "Print JSON."); }

  int run(Logger&) override {
    const std::vector<std::string> devices = Runtime::devices();
    if (json_) {
      print_json({{"version", version()},
                  {"engine_format", kEngineFormatVersion},
                  {"oldest_engine_format", kOldestEngineFormatVersion},
                  {"compiler", compiler()},
                  {"devices", devices}});
    } else {
      print_text(fmt::format("ingot {}\nengine format {}, reads from {}\nbuilt with {}\ndevices: {}\n",
                             version(), kEngineFormatVersion, kOldestEngineFormatVersion, compiler(),
                             fmt::join(devices, ", ")));
    }
    return kSuccess;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> version_command() { return std::make_unique<VersionCommand>(); }

}  // namespace ingot::cli
