#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "base/stopwatch.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/engine_run.h"
#include "cli/graph_json.h"
#include "cli/output.h"
#include "cli/program_report.h"
#include "engine/engine_file.h"
#include "ingot/import.h"
#include "ingot/validity.h"
#include "ir/cost.h"
#include "ir/draw.h"
#include "ir/op_info.h"
#include "ir/print.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostRuns = 20;  // to measure
constexpr double kRunSeconds = 0.5;

// An engine file, or the graph imported from a model.
struct Inspected {
  EngineContent content;
  bool is_engine = false;
  size_t file_bytes = 0;
  std::string digest;  // of an engine
};

Inspected read(const std::string& path) {
  Inspected out;
  auto file = MappedFile::open(path, "file to inspect");
  out.file_bytes = file->size();
  out.is_engine = !check_engine_header(file->bytes()).has(EngineReason::malformed);
  if (out.is_engine) {
    out.content = read_engine(file->bytes(), file, path);
    out.digest = to_hex(engine_digest(file->bytes()));
  } else {
    out.content.graph = import_onnx(path);
  }
  return out;
}

std::map<std::string, int64_t> op_counts(const Graph& graph) {
  std::map<std::string, int64_t> out;
  for (const Node& n : graph.nodes()) {
    ++out[std::string(to_string(n.op))];
    for (const GraphPtr& body : n.subgraphs)
      for (const auto& [op, count] : op_counts(*body)) out[op] += count;
  }
  return out;
}

Json profiles_json(const std::vector<Profile>& profiles) {
  Json out = Json::array();
  for (const Profile& p : profiles) {
    Json inputs = Json::object(), dims = Json::object();
    for (const auto& [name, r] : p.inputs) inputs[name] = {{"min", r.min}, {"opt", r.opt}, {"max", r.max}};
    for (const auto& [name, r] : p.dims) dims[name] = {{"min", r.min}, {"opt", r.opt}, {"max", r.max}};
    out.push_back({{"name", p.name}, {"inputs", inputs}, {"dims", dims}});
  }
  return out;
}

Json missing_json(const std::vector<MissingWeights>& missing) {
  Json out = Json::array();
  for (const MissingWeights& m : missing)
    out.push_back({{"name", m.name}, {"bytes", m.size}, {"sha256", to_hex(m.sha256)}});
  return out;
}

Json summary_json(const std::string& path, const Inspected& f) {
  const Graph& graph = f.content.graph;
  const Cost cost = graph_cost(graph);
  Json out = {{"file", path},
              {"kind", f.is_engine ? "engine" : "onnx"},
              {"file_bytes", f.file_bytes},
              {"name", graph.name()},
              {"nodes", graph.nodes().size()},
              {"ops", op_counts(graph)},
              {"parameters", parameter_count(graph)},
              {"multiply_adds", cost.multiply_adds.to_string()},
              {"flops", cost.flops().to_string()},
              {"flops_complete", cost.complete}};
  if (!f.is_engine) return out;
  out["digest"] = f.digest;
  out["producer"] = f.content.producer;
  out["targets"] = f.content.targets;
  out["profiles"] = profiles_json(f.content.profiles);
  out["stripped"] = f.content.stripped;
  out["missing_weights"] = missing_json(f.content.missing);
  return out;
}

std::string summary_text(const std::string& path, const Inspected& f) {
  const Graph& graph = f.content.graph;
  const Cost cost = graph_cost(graph);
  std::string out =
      fmt::format("{}: {}, {}\n", path, f.is_engine ? "engine" : "ONNX model", format_bytes(f.file_bytes));
  if (f.is_engine)
    out += fmt::format("made by {} for {}, digest {}\n", f.content.producer,
                       fmt::join(f.content.targets, ", "), f.digest);
  if (f.content.stripped) out += fmt::format("{} weights are left out\n", f.content.missing.size());
  for (const Port& p : graph.inputs())
    out += fmt::format("input  {}: {}\n", p.name, to_string(graph.type(p.value)));
  for (const Port& p : graph.outputs())
    out += fmt::format("output {}: {}\n", p.name, to_string(graph.type(p.value)));
  for (const Profile& p : f.content.profiles) {
    out += fmt::format("profile {}:\n", p.name);
    for (const auto& [name, r] : p.inputs)
      out += fmt::format("  {}: {} to {}, best {}\n", name, to_string(r.min), to_string(r.max),
                         to_string(r.opt));
    for (const auto& [name, r] : p.dims)
      out += fmt::format("  {}: {} to {}, best {}\n", name, r.min, r.max, r.opt);
  }
  out += fmt::format("{} parameters\n{} multiply-adds, {} flops{}\n", parameter_count(graph),
                     cost.multiply_adds.to_string(), cost.flops().to_string(),
                     cost.complete ? "" : " (more: some shapes are not known)");
  out += fmt::format("{} nodes:\n", graph.nodes().size());
  for (const auto& [op, count] : op_counts(graph)) out += fmt::format("  {:6} {}\n", count, op);
  for (const auto& [key, value] : graph.metadata())
    out += fmt::format("metadata {}: {} bytes\n", key, value.size());
  return out;
}

class InspectCommand : public Command {
 public:
  ManualPage manual() const override {
    return {
        .name = "inspect",
        .summary = "show the graph of an engine or of an ONNX model",
        .description =
            "Prints the graph of FILE in its text form, in which large constants are shortened, or as "
            "one JSON "
            "object. An ONNX model is shown as it is imported, before any optimisation. --summary prints "
            "sizes, "
            "ops, parameters and the arithmetic of one inference instead. --svg draws the graph, "
            "and below it the bodies of its ifs and loops, without constants. Any browser shows it; point at "
            "a box for its attributes. Drawings are tall: an engine, being optimised, draws smaller than "
            "its model.\n\n"
            "--program shows what a device makes of an engine instead: each step with its kernels, sizes, "
            "layouts and schedule, and how long it took in a few inferences on random or given inputs, "
            "beside "
            "what it would take at the full speed of the machine, which is measured. --dump-kernel shows the "
            "loops, LLVM IR and assembly of kernels.",
        .example =
            "ingot inspect model.ingot --summary\n"
            "ingot inspect model.onnx --svg model.svg\n"
            "ingot inspect model.ingot --program --shape image=1x3x224x224\n"
            "ingot inspect model.ingot --dump-kernel layer1/conv"};
  }

  void declare(Arguments& a) override {
    a.positional("FILE", path_, "An engine or an ONNX model.");
    a.flag("--summary", summary_, "Print a summary instead of the graph.");
    a.flag("--json", json_, "Print JSON.");
    a.option("--svg", "FILE", svg_, "Draw the graph into FILE.");
    a.flag("--program", program_, "Show what the device makes of an engine.");
    a.option(
        "--dump-kernel", "NAME", kernel_,
        "Show the code of kernels: of the step called NAME, of those whose names contain it, or by a key.");
    run_.declare_run(a);
  }

  int run(Logger& logger) override {
    if (program_ || !kernel_.empty()) {
      show_program(logger);
      return kSuccess;
    }
    const Inspected file = read(path_);
    if (!svg_.empty()) {
      AtomicFile drawing(svg_, "drawing");
      drawing.append(draw_svg(file.content.graph));
      drawing.commit();
    }
    if (summary_)
      json_ ? print_json(summary_json(path_, file)) : print_text(summary_text(path_, file));
    else if (json_)
      print_json(full_json(file));
    else if (svg_.empty())
      print_text(print(file.content.graph, {.largest_list = 16, .largest_constant = 64}));
    return kSuccess;
  }

 private:
  void show_program(Logger& logger) {
    run_.set_path(path_);
    run_.use_random_inputs(1);
    run_.open(logger);
    run_.run();  // prepares what it needs
    run_.context().set_profiling(true);
    const Stopwatch watch;
    for (int i = 0; i < kMostRuns && (i == 0 || watch.seconds() < kRunSeconds); ++i) run_.run();
    const ExecutionProfile profile = run_.context().execution_profile();
    if (!kernel_.empty()) return print_text(kernel_listings(run_.engine(), profile, kernel_));
    const ProgramReport report{.name = run_.engine().name(),
                               .device = run_.engine().device(),
                               .stats = run_.engine().stats(),
                               .speed = run_.engine().measure_speed(),
                               .profile = profile};
    json_ ? print_json(program_json(report)) : print_text(program_text(report));
  }

  Json full_json(const Inspected& file) const {
    Json out = summary_json(path_, file);
    out["graph"] = graph_json(file.content.graph);
    return out;
  }

  std::string path_, svg_, kernel_;
  EngineRun run_;
  bool program_ = false;
  bool summary_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace ingot::cli
