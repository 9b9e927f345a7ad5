#include <numeric>
#include <set>

#include "base/atomic_file.h"
#include "base/memory_account.h"
#include "base/reported.h"
#include "base/resident_memory.h"
#include "base/thread_pool.h"
#include "builder/progress.h"
#include "builder/shapes.h"
#include "builder/targets.h"
#include "engine/byte_sink.h"
#include "engine/debug_names.h"
#include "engine/engine_file.h"
#include "engine/refit_table.h"
#include "ingot/builder.h"
#include "ingot/error.h"
#include "ingot/logger.h"
#include "ir/op_info.h"
#include "ir/select_outputs.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

namespace ingot {
namespace {

constexpr uint64_t kWorkingMemory = uint64_t{64} << 20;  // for graphs, metadata and buffers

// Bytes of the constants, those that share memory counted once.
void add_constant_bytes(const Graph& graph, std::set<const std::byte*>& seen, uint64_t& bytes) {
  for (const Node& node : graph.nodes()) {
    for (const GraphPtr& g : node.subgraphs) add_constant_bytes(*g, seen, bytes);
    if (node.op != Op::Constant) continue;
    auto content = node.as<ConstantAttrs>().value.bytes();
    if (seen.insert(content.data()).second) bytes += content.size();
  }
}

void check_memory(const Graph& graph, uint64_t limit, bool keeps_file) {
  if (limit == 0) return;
  std::set<const std::byte*> seen;
  uint64_t constants = 0;
  add_constant_bytes(graph, seen, constants);
  uint64_t estimate = kWorkingMemory + (keeps_file ? 2 : 1) * constants;
  if (estimate <= limit) return;
  throw Error(
      {.code = ErrorCode::out_of_memory,
       .object = "build",
       .expected = fmt::format("a need of at most {} bytes, the memory limit", limit),
       .observed = fmt::format("an estimate of {} bytes, {} of them for constants", estimate, constants),
       .remedy = keeps_file ? "Raise the limit, or build to a file, which needs less."
                            : "Raise the limit, or build on a machine with more memory."});
}

class Build {
 public:
  Build(const BuilderConfig& config, BuildReport& report, std::shared_ptr<const MemoryAccount> memory)
      : config_(config),
        report_(report),
        watch_{config.progress, report, {config.logger, config.recorder}, std::move(memory)} {
    report_.start_memory = resident_memory().now;
  }

  void run(const Graph& graph, ByteSink& sink, bool keeps_file, const std::function<void()>& publish) {
    auto start = std::chrono::steady_clock::now();
    check_targets(config_.targets);
    check_memory(graph, config_.memory_limit, keeps_file);
    report_.nodes_before = graph.nodes().size();
    Phase build(watch_, "build", "", 3);
    EngineContent content = optimise(graph);
    check_types(content.graph, config_.targets);
    build.step(1);
    report_.nodes_after = content.graph.nodes().size();
    write(content, sink);
    build.step(2);
    {
      Phase phase(watch_, "publish", "build", 1);
      publish();
    }
    report_.peak_memory = resident_memory().peak;
    report_.peak_allocated = watch_.memory->peak();
    report_.time = std::chrono::steady_clock::now() - start;
  }

 private:
  EngineContent optimise(const Graph& graph) {
    const std::vector<ModelWeight> weights = find_weights(graph, config_.refit, config_.refit_weights);
    EngineContent content{.profiles = config_.profiles, .targets = config_.targets};
    content.refit = config_.refit;
    content.stripped = config_.strip_weights;
    const bool hides = config_.refit != RefitMode::none;
    Graph model = hides ? hide_weights(graph, weights) : graph;
    if (hides) content.structure = structure_of(model);
    Graph shaped = apply_profiles(name_dimensions(model, config_.dimension_names), config_.profiles);
    require_debug_outputs(shaped, config_.debug_tensors);
    content.graph = mark_debug(run_passes(std::move(shaped)));
    if (hides) content.graph = restore_weights(content.graph, weights, content.weights);
    return content;
  }

  Graph run_passes(Graph graph) {
    Phase phase(watch_, "passes", "build", static_cast<int64_t>(pipeline().size()));
    int64_t done = 0;
    PipelineOptions options{.disabled = config_.disabled_passes, .verify_each = config_.verify_each_pass};
    options.after = [&](const PassTime& pass, const Graph& result) {
      report_.phases.push_back({.name = fmt::format("pass {}", pass.name), .time = pass.time});
      if (config_.on_pass) config_.on_pass(pass.name, result);
      phase.step(++done);
    };
    graph = run_pipeline(std::move(graph), options);
    verify(graph);
    return graph;
  }

  Graph mark_debug(Graph graph) const {
    const Notes notes = with_debug_names(graph.metadata(), config_.debug_tensors);
    if (notes == graph.metadata()) return graph;
    std::vector<size_t> all(graph.outputs().size());
    std::iota(all.begin(), all.end(), size_t{0});
    return select_outputs(graph, all, notes);
  }

  void write(const EngineContent& content, ByteSink& sink) {
    constexpr int64_t kSteps = 100;
    Phase phase(watch_, "write", "build", kSteps);
    std::optional<ThreadPool> pool;
    if (config_.threads != 1) pool.emplace(config_.threads);
    int64_t last = 0;
    auto on_bytes = [&](uint64_t done, uint64_t total) {
      auto now = static_cast<int64_t>(static_cast<double>(done) / static_cast<double>(total) * kSteps);
      if (now > last) phase.step(last = now);
    };
    WrittenEngine written = write_engine(content, sink, pool ? &*pool : nullptr, on_bytes);
    report_.weight_bytes = written.weight_bytes;
    report_.file_bytes = written.file_bytes;
    report_.digest = to_hex(written.digest);
  }

  const BuilderConfig& config_;
  BuildReport& report_;
  const BuildWatch watch_;
};

Diagnostics diagnostics_of(const BuilderConfig& config) { return {config.logger, config.recorder}; }

void log_result(const BuilderConfig& config, const BuildReport& report, std::string_view where) {
  if (config.logger == nullptr || !config.logger->wants(LogLevel::info)) return;
  config.logger->write(
      LogLevel::info,
      fmt::format("built {}: {} nodes of {}, {} bytes, {} of them weights, in {:.3f} s; peak memory {} bytes",
                  where, report.nodes_after, report.nodes_before, report.file_bytes, report.weight_bytes,
                  std::chrono::duration<double>(report.time).count(), report.peak_memory));
}

}  // namespace

BuildReport build_engine_file(const Graph& graph, const std::string& path, const BuilderConfig& config) {
  return reported(diagnostics_of(config), [&] {
    const auto memory = std::make_shared<MemoryAccount>(config.allocator);
    const MemoryScope scope(memory, MemoryPurpose::weights);
    BuildReport report;
    AtomicFile file(path, "engine file");
    AtomicFile::remove_abandoned(file.folder());
    FileSink sink(file);
    Build(config, report, memory).run(graph, sink, false, [&] { file.commit(); });
    log_result(config, report, path);
    return report;
  });
}

std::vector<std::byte> build_engine(const Graph& graph, const BuilderConfig& config, BuildReport* report) {
  return reported(diagnostics_of(config), [&] {
    const auto memory = std::make_shared<MemoryAccount>(config.allocator);
    const MemoryScope scope(memory, MemoryPurpose::weights);
    BuildReport own;
    BuildReport& used = report == nullptr ? own : *report;
    used = {};
    MemorySink sink;
    Build(config, used, memory).run(graph, sink, true, [] {});
    log_result(config, used, "an engine in memory");
    return sink.take();
  });
}

}  // namespace ingot
