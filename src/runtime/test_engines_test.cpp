#include "runtime/test_engines.h"

#include <numeric>

#include "engine/byte_sink.h"
#include "engine/engine_file.h"
#include "engine/refit_table.h"

namespace ingot {
namespace {

// What a builder does, but for its passes.
void add_refit_weights(EngineContent& content, RefitMode mode, const WeightNames& names) {
  const std::vector<ModelWeight> weights = find_weights(content.graph, mode, names);
  const Graph hidden = hide_weights(content.graph, weights);
  content.refit = mode;
  content.structure = structure_of(hidden);
  content.graph = restore_weights(hidden, weights, content.weights);
}

}  // namespace

std::vector<std::byte> engine_bytes(Graph graph, FileOptions options) {
  EngineContent content;
  content.graph = std::move(graph);
  content.profiles = std::move(options.profiles);
  content.targets = std::move(options.targets);
  content.stripped = options.stripped;
  if (options.refit != RefitMode::none) add_refit_weights(content, options.refit, options.refit_weights);
  MemorySink sink;
  write_engine(content, sink);
  return sink.take();
}

std::shared_ptr<const Engine> open_graph(Graph graph, std::vector<Profile> profiles, RuntimeConfig config,
                                         Logger& logger) {
  const std::vector<std::byte> bytes = engine_bytes(std::move(graph), {.profiles = std::move(profiles)});
  return Runtime(logger, std::move(config)).open(bytes, nullptr, "test");
}

Graph affine_graph() {
  GraphBuilder g("affine");
  const Type type = Type::tensor(DType::f32, {Dim::symbol("batch", 1, 8), 3});
  Value x = g.input("x", type);
  Value z = g.input("z", type);
  g.output("y", g.add(g.mul(x, g.constant(Tensor::of<float>({3}, {10, 20, 30}))), z));
  g.set_metadata("labels", "cat,dog");
  return std::move(g).finish();
}

Graph weights_graph() {
  std::vector<float> weights(1000);
  std::iota(weights.begin(), weights.end(), 0.0f);
  GraphBuilder g("weights");
  Value x = g.input("x", Type::tensor(DType::f32, {1000}));
  g.output("y", g.add(x, g.constant(Tensor::of<float>({1000}, weights))));
  return std::move(g).finish();
}

Graph reshape_graph() {
  GraphBuilder g("reshape");
  Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n")}));
  Value shape = g.input("shape", Type::tensor(DType::i64, {2}));
  g.output("y", g.reshape(x, shape));
  return std::move(g).finish();
}

bool KeepingLogger::has(LogLevel level, std::string_view text) const {
  std::lock_guard lock(mutex_);
  return std::any_of(messages_.begin(), messages_.end(), [&](const auto& message) {
    return message.first == level && message.second.find(text) != std::string::npos;
  });
}

void KeepingLogger::log(LogLevel level, std::string_view message) noexcept {
  std::lock_guard lock(mutex_);
  messages_.emplace_back(level, message);
}

}  // namespace ingot
