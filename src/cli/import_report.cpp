#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "import/onnx/model_summary.h"
#include "ingot/import.h"
#include "ir/cost.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

// What only the imported graph can tell.
struct Imported {
  std::map<std::string, std::string> inputs, outputs;  // inferred types
  int64_t parameters = 0;
  Cost cost;
};

std::string full_name(const OnnxOpUse& use) {
  return use.domain.empty() ? use.op : use.domain + "." + use.op;
}

class ImportReportCommand : public Command {
 public:
  ManualPage manual() const override {
    return {
        .name = "import-report",
        .summary = "say what an ONNX model holds and whether all of it is supported",
        .description =
            "Lists the ops of MODEL with their counts (bodies and functions included), says which are not "
            "supported, and prints inputs, outputs, opsets, metadata and the number of initializer elements. "
            "Where "
            "everything is supported the model is imported, and the report has its inferred shapes, its "
            "parameters "
            "and the arithmetic of one inference; sizes that are open stay as names in these.",
        .example =
            "ingot import-report model.onnx\n"
            "ingot import-report model.onnx --json | python3 -m json.tool",
        .exit_codes = "0 all of the model is supported, 1 it is not (or cannot be read), 2 wrong usage"};
  }

  void declare(Arguments& a) override {
    a.positional("MODEL", path_, "The ONNX file.");
    a.flag("--json", json_, "Print JSON.");
  }

  int run(Logger&) override {
    summary_ = summarize_onnx(path_);
    if (summary_.all_supported()) import();
    if (json_)
      print_json(to_json());
    else
      print_text(to_text());
    if (import_error_) throw Error(*import_error_);
    return imported_ ? kSuccess : kFailure;
  }

 private:
  void import() {
    try {
      const Graph graph = import_onnx(path_);
      imported_.emplace();
      for (const Port& p : graph.inputs()) imported_->inputs[p.name] = to_string(graph.type(p.value));
      for (const Port& p : graph.outputs()) imported_->outputs[p.name] = to_string(graph.type(p.value));
      imported_->parameters = parameter_count(graph);
      imported_->cost = graph_cost(graph);
    } catch (const Error& e) {
      import_error_ = e;  // the report comes first
    }
  }

  std::vector<std::string> unsupported() const {
    std::vector<std::string> out;
    for (const OnnxOpUse& use : summary_.ops)
      if (!use.supported) out.push_back(full_name(use));
    return out;
  }

  const auto& inputs() const { return imported_ ? imported_->inputs : summary_.inputs; }
  const auto& outputs() const { return imported_ ? imported_->outputs : summary_.outputs; }

  Json to_json() const {
    Json ops = Json::array();
    for (const OnnxOpUse& use : summary_.ops)
      ops.push_back({{"domain", use.domain},
                     {"op", use.op},
                     {"count", use.count},
                     {"supported", use.supported},
                     {"function", use.is_function}});
    Json out = {{"model", path_},
                {"graph", summary_.graph_name},
                {"producer", summary_.producer},
                {"ir_version", summary_.ir_version},
                {"opsets", summary_.opsets},
                {"nodes", summary_.node_count},
                {"ops", ops},
                {"unsupported", unsupported()},
                {"imports", imported_.has_value()},
                {"inputs", inputs()},
                {"outputs", outputs()},
                {"initializers", summary_.initializer_count},
                {"initializer_elements", summary_.initializer_elements},
                {"metadata", summary_.metadata}};
    if (imported_) {
      out["parameters"] = imported_->parameters;
      out["multiply_adds"] = imported_->cost.multiply_adds.to_string();
      out["flops"] = imported_->cost.flops().to_string();
      out["flops_complete"] = imported_->cost.complete;
    }
    if (import_error_) out["error"] = import_error_->what();
    return out;
  }

  std::string to_text() const {
    std::string out =
        fmt::format("{}: graph '{}', {}, IR version {}\n", path_, summary_.graph_name,
                    summary_.producer.empty() ? "unknown producer" : summary_.producer, summary_.ir_version);
    for (const auto& [domain, version] : summary_.opsets)
      out += fmt::format("opset {} {}\n", domain.empty() ? "ai.onnx" : domain, version);
    for (const auto& [name, type] : inputs()) out += fmt::format("input  {}: {}\n", name, type);
    for (const auto& [name, type] : outputs()) out += fmt::format("output {}: {}\n", name, type);
    out += fmt::format("{} initializers, {} elements\n", summary_.initializer_count,
                       summary_.initializer_elements);
    if (imported_)
      out += fmt::format("{} parameters\n{} multiply-adds, {} flops{}\n", imported_->parameters,
                         imported_->cost.multiply_adds.to_string(), imported_->cost.flops().to_string(),
                         imported_->cost.complete ? "" : " (more: some shapes are not known)");
    out += fmt::format("{} nodes of {} ops:\n", summary_.node_count, summary_.ops.size());
    for (const OnnxOpUse& use : summary_.ops)
      out += fmt::format("  {:6} {}{}\n", use.count, full_name(use),
                         !use.supported    ? "   NOT SUPPORTED"
                         : use.is_function ? "   (function of the model)"
                                           : "");
    for (const auto& [key, value] : summary_.metadata)
      out += fmt::format("metadata {}: {} bytes\n", key, value.size());
    const auto missing = unsupported();
    out += missing.empty()
               ? "all ops are supported\n"
               : fmt::format("{} ops are not supported: {}\n", missing.size(), fmt::join(missing, ", "));
    return out;
  }

  std::string path_;
  bool json_ = false;
  OnnxModelSummary summary_;
  std::optional<Imported> imported_;
  std::optional<Error> import_error_;
};

}  // namespace

std::unique_ptr<Command> import_report_command() { return std::make_unique<ImportReportCommand>(); }

}  // namespace ingot::cli
