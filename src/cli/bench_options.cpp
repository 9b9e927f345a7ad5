#include "cli/bench_options.h"

#include "cli/arguments.h"
#include "cli/engine_run.h"
#include "cli/values.h"

namespace ingot::cli {
namespace {

constexpr int64_t kMany = 1000000000;

// "--save-engine,--saveEngine"
std::string both(std::string_view kebab) {
  std::string camel = "--";
  for (size_t i = 2; i < kebab.size(); ++i)
    if (kebab[i] == '-')
      camel += static_cast<char>(toupper(kebab[++i]));
    else
      camel += kebab[i];
  return camel == kebab ? camel : fmt::format("{},{}", kebab, camel);
}

std::map<std::string, Shape> shapes_of(std::string_view option, const std::string& text) {
  return text.empty() ? std::map<std::string, Shape>() : parse_shapes(option, parse_colon_list(option, text));
}

}  // namespace

void BenchOptions::declare(Arguments& a) {
  const std::string shapes_value = "NAME:SHAPE,...";
  a.optional_positional("ENGINE", engine, "The engine file; as --load-engine.");
  a.option("--onnx", "FILE", onnx, "Build an engine from this model first.");
  a.option(both("--save-engine"), "FILE", save_engine, "Keep the engine built from --onnx in this file.");
  a.option(both("--load-engine"), "FILE", load_engine, "The engine file to measure.");
  a.option("--shapes", shapes_value, shapes,
           "Shapes of the inputs, as x:1x3x224x224. With --onnx and without the next three the engine is "
           "built for "
           "these shapes alone.");
  a.option(both("--min-shapes"), shapes_value, min_shapes, "With --onnx: the smallest shapes to build for.");
  a.option(both("--opt-shapes"), shapes_value, opt_shapes,
           "With --onnx: the shapes to be fast for; also those measured, unless --shapes gives others.");
  a.option(both("--max-shapes"), shapes_value, max_shapes, "With --onnx: the largest shapes to build for.");
  a.option(both("--load-inputs"), "NAME:FILE,...", load_inputs,
           "Inputs from files, as --input. Inputs not given are random.");
  a.option("--iterations", "N", iterations, "Measure at least N inferences; default: 10.", 1, kMany);
  a.option("--duration", "SECONDS", duration, "Measure for at least this long; default: 3.", 0, 1000000);
  a.option("--warm-up,--warmUp", "MS", warm_up,
           "Run for this many milliseconds before measuring; default: 200. The first run is reported apart.",
           0, 1000000000);
  a.option(both("--inf-streams"), "N", streams,
           "Infer from N threads at once, each with its context; default: 1.", 1, 1024);
  a.option(both("--avg-runs"), "N", average_runs,
           "Also print the mean latency of every N inferences in turn.", 1, kMany);
  a.option("--percentile", "P1,P2,...", percentiles, "Latencies to report; default: 90,95,99.");
  a.option(both("--export-times"), "FILE", export_times,
           "Write start and latency of every inference as JSON.");
  a.flag(both("--dump-profile"), dump_profile,
         "Print what each step of the program took, the slowest first, as 'exec --profile'.");
  a.option(both("--export-profile"), "FILE", export_profile, "Write the times of the steps as JSON.");
  a.flag(both("--dump-layer-info"), dump_layer_info, "Print all steps in the order in which they run.");
  a.flag(both("--compare-onnxruntime"), compare_onnxruntime,
         "With --onnx: run the same work in ONNX Runtime with as many threads, in turns, and print the ratio "
         "of the "
         "medians and the relative L2 difference of f32 outputs. Takes $INGOT_PYTHON, else python3.");
  a.flag("--verbose", verbose, "Print all messages of the library to standard error.");
  a.flag("--json", json, "Print JSON, times in seconds; no line PASSED or FAILED.");
}

void BenchOptions::check() {
  if (!engine.empty() && !load_engine.empty())
    throw UsageError("expected ENGINE or --load-engine, found both");
  if (load_engine.empty()) load_engine = engine;
  if (load_engine.empty() == onnx.empty())
    throw UsageError(onnx.empty() ? "expected ENGINE, --load-engine or --onnx, found none of them"
                                  : "expected an engine or --onnx, found both");
  const bool builds = !onnx.empty();
  const auto needs_model = [&](bool given, std::string_view option) {
    if (given && !builds) throw UsageError(fmt::format("{}: expected --onnx with it", option));
  };
  needs_model(!save_engine.empty(), "--save-engine");
  needs_model(!min_shapes.empty(), "--min-shapes");
  needs_model(!opt_shapes.empty(), "--opt-shapes");
  needs_model(!max_shapes.empty(), "--max-shapes");
  needs_model(compare_onnxruntime, "--compare-onnxruntime");
  if (compare_onnxruntime && streams > 1)
    throw UsageError("--compare-onnxruntime: expected one stream with it");
  if (opt_shapes.empty() && (!min_shapes.empty() || !max_shapes.empty()))
    throw UsageError("--min-shapes and --max-shapes: expected --opt-shapes with them");
}

std::vector<Profile> BenchOptions::profiles() const {
  const auto opt = opt_shapes.empty() ? shapes_of("--shapes", shapes) : shapes_of("--opt-shapes", opt_shapes);
  if (opt.empty()) return {};
  const auto min = shapes_of("--min-shapes", min_shapes), max = shapes_of("--max-shapes", max_shapes);
  Profile profile{.name = "default", .inputs = {}, .dims = {}};
  for (const auto& [name, shape] : opt) {
    const auto low = min.find(name), high = max.find(name);
    profile.inputs[name] = {.min = low == min.end() ? shape : low->second,
                            .opt = shape,
                            .max = high == max.end() ? shape : high->second};
  }
  for (const auto& limits : {min, max})
    for (const auto& [name, shape] : limits)
      if (!opt.contains(name)) throw UsageError(fmt::format("--opt-shapes: expected a shape for '{}'", name));
  return {profile};
}

void BenchOptions::apply_inputs(EngineRun& run) const {
  if (!shapes.empty())
    for (std::string& text : parse_colon_list("--shapes", shapes)) run.add_shape(std::move(text));
  if (!load_inputs.empty())
    for (std::string& text : parse_colon_list("--load-inputs", load_inputs))
      run.add_input_file(std::move(text));
  run.use_random_inputs(1);
}

}  // namespace ingot::cli
