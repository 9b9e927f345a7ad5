#include "ingot/validity.h"

#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/values.h"
#include "ingot/runtime.h"

namespace ingot::cli {
namespace {

std::string_view to_string(EngineStatus status) {
  switch (status) {
    case EngineStatus::valid: return "valid";
    case EngineStatus::suboptimal: return "suboptimal";
    case EngineStatus::invalid: return "invalid";
  }
  return "invalid";
}

class ValidityCommand : public Command {
 public:
  ManualPage manual() const override {
    return {.name = "validity",
            .summary = "say from its header whether an engine can be opened here",
            .description =
                "Reads the first 64 bytes of ENGINE and its size, nothing else. Damage behind the header is "
                "found by 'ingot verify'. An engine that opens with limits is 'suboptimal', which counts as "
                "success.",
            .example = "ingot validity model.ingot && echo usable",
            .exit_codes = "0 it can be opened, 1 it cannot (or cannot be read), 2 wrong usage"};
  }

  void declare(Arguments& a) override {
    a.positional("ENGINE", path_, "The engine file.");
    a.flag("--json", json_, "Print JSON.");
  }

  int run(Logger& logger) override {
    RuntimeConfig config;
    config.recorder = std::make_shared<ErrorRecorder>();  // errors are printed once, by the program
    const EngineValidity validity = Runtime(logger, config).check_validity(path_);
    if (json_)
      print_json(to_json(validity));
    else
      print_text(to_text(validity));
    return validity.status == EngineStatus::invalid ? kFailure : kSuccess;
  }

 private:
  nlohmann::ordered_json to_json(const EngineValidity& v) const {
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (const EngineFinding& f : v.findings)
      findings.push_back(
          {{"reason", static_cast<uint32_t>(f.reason)}, {"text", f.text}, {"remedy", f.remedy}});
    return {{"engine", path_},           {"status", to_string(v.status)}, {"reasons", v.reasons},
            {"findings", findings},      {"format", v.format_version},    {"producer", v.producer},
            {"file_bytes", v.file_size}, {"weight_bytes", v.weight_bytes}};
  }

  std::string to_text(const EngineValidity& v) const {
    std::string out = fmt::format("{}: {}\n", path_, to_string(v.status));
    for (const EngineFinding& f : v.findings) out += fmt::format("  {}. {}\n", f.text, f.remedy);
    if (!v.producer.empty())
      out += fmt::format("  format {}, made by {}, {}\n", v.format_version, v.producer,
                         format_bytes(v.file_size));
    return out;
  }

  std::string path_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> validity_command() { return std::make_unique<ValidityCommand>(); }

}  // namespace ingot::cli
