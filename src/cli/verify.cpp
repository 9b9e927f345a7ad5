#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "engine/engine_file.h"

namespace ingot::cli {
namespace {

class VerifyCommand : public Command {
 public:
  ManualPage manual() const override {
    return {.name = "verify",
            .summary = "check every byte of an engine file",
            .description =
                "Reads all of ENGINE: the header, the metadata, the graph, the SHA-256 of each section and "
                "that padding is zero. Opening an engine checks all of this but the weights, which it does "
                "not read.",
            .example = "ingot verify model.ingot --json",
            .exit_codes = "0 the file is sound, 1 it is not (or cannot be read), 2 wrong usage"};
  }

  void declare(Arguments& a) override {
    a.positional("ENGINE", path_, "The engine file.");
    a.flag("--json", json_, "Print JSON.");
  }

  int run(Logger&) override {
    auto file = MappedFile::open(path_, "engine file");
    verify_engine(file->bytes(), path_);
    const std::string digest = to_hex(engine_digest(file->bytes()));
    if (json_)
      print_json({{"engine", path_}, {"sound", true}, {"file_bytes", file->size()}, {"digest", digest}});
    else
      print_text(fmt::format("{}: sound, {}\n  digest {}\n", path_, format_bytes(file->size()), digest));
    return kSuccess;
  }

 private:
  std::string path_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace ingot::cli
