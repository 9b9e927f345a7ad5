#include "base/mapped_file.h"
#include "base/reported.h"
#include "engine/engine_file.h"
#include "ingot/error.h"
#include "runtime/debug.h"
#include "runtime/devices.h"
#include "runtime/ports.h"
#include "runtime/runtime_cache_state.h"

namespace ingot {
namespace {

constexpr std::string_view kObject = "engine file";

// For each profile the smallest, the usual and the largest.
std::vector<std::vector<Shape>> shapes_to_prebuild(const std::vector<PortInfo>& inputs, size_t profiles) {
  std::vector<std::vector<Shape>> all;
  for (const auto pick : {&ShapeRange::min, &ShapeRange::opt, &ShapeRange::max})
    for (std::vector<Shape>& shapes : shapes_to_prepare(inputs, profiles, pick))
      if (std::ranges::find(all, shapes) == all.end()) all.push_back(std::move(shapes));
  return all;
}

}  // namespace

void prebuild_kernels(const std::string& engine_path, const std::vector<std::string>& targets,
                      RuntimeCache& cache, int threads) {
  const Diagnostics& diagnostics = cache.state().cache->config().diagnostics;
  reported(diagnostics, [&] {
    const std::shared_ptr<const MappedFile> file = MappedFile::open(engine_path, kObject);
    EngineContent content = read_engine(file->bytes(), file, engine_path);
    if (content.stripped)
      throw Error({.code = ErrorCode::invalid_argument,
                   .object = std::string(kObject),
                   .name = engine_path,
                   .expected = "an engine with its weights",
                   .observed = "one that was stripped of them",
                   .remedy = "Prebuild kernels from the engine before it is stripped."});
    const std::vector<PortInfo> inputs = list_inputs(content.graph, content.profiles);
    const CompileOptions options{.threads = threads,
                                 .identity = to_hex(engine_digest(file->bytes())),
                                 .isa = {},
                                 .cache = cache.state().cache,
                                 .shapes = shapes_to_prebuild(inputs, content.profiles.size()),
                                 .diagnostics = diagnostics};
    if (options.shapes.empty())
      diagnostics.log(
          LogLevel::warning,
          fmt::format("engine '{}' has no profile that says which shapes to prebuild kernels for; "
                      "build it with profiles",
                      engine_path));
    const auto debug = DebugTensors::of(content.graph);
    const auto graph =
        std::make_shared<const Graph>(debug ? debug->without(content.graph) : std::move(content.graph));
    for (const std::string& target : targets)
      find_device(target.substr(0, target.find(':'))).prebuild(graph, options, target);
  });
}

}  // namespace ingot
