#include "runtime/weights_testing.h"

#include <gtest/gtest.h>

#include "runtime/memory_testing.h"

namespace ingot {
namespace {

// Numbers between -1/8 and 1/8 that look random and are the same everywhere.
Tensor numbers(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (float& value : tensor.mutable_data<float>()) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 8) / static_cast<float>(1 << 26) - 0.125f;
  }
  return tensor;
}

}  // namespace

const std::vector<std::string>& layers_weight_names() {
  static const std::vector<std::string> names = {"dense.bias", "dense.weight", "head.weight"};
  return names;
}

Tensor layers_weight(const std::string& name, uint32_t seed) {
  if (name == "dense.bias") return numbers({64}, seed);
  if (name == "dense.weight") return numbers({64, 64}, seed + 1000);
  return numbers({64, 16}, seed + 2000);
}

Graph layers_graph(uint32_t seed) {
  GraphBuilder g("layers");
  const Value x = g.input("x", Type::tensor(DType::f32, {4, 64}));
  auto weight = [&](const std::string& name) {
    g.set_origin(name);
    const Value value = g.constant(layers_weight(name, seed));
    g.set_origin("");
    return value;
  };
  const Value dense = g.add(g.matmul(x, weight("dense.weight")), weight("dense.bias"));
  g.output("y", g.softmax(g.matmul(g.relu(dense), weight("head.weight"))));
  return std::move(g).finish();
}

Tensor layers_input() { return numbers({4, 64}, 77); }

Tensor run_layers(Context& context) { return context.run({{"x", layers_input()}}).at("y").tensor(); }

Tensor layers_reference(uint32_t seed) {
  return run_layers(*open_graph(layers_graph(seed), {}, {.device = "reference"})->create_context());
}

void expect_layers(const Engine& engine, Context& context, uint32_t seed) {
  const Tensor y = run_layers(context);
  const auto direct = open_graph(layers_graph(seed), {}, {.device = engine.device(), .cache_folder = ""});
  EXPECT_TRUE(y.identical(run_layers(*direct->create_context())));
  EXPECT_LE(difference(y, layers_reference(seed)), 1e-5);
}

std::shared_ptr<const Engine> open_bytes(const std::vector<std::byte>& bytes, RuntimeConfig config,
                                         const OpenOptions& options) {
  return Runtime(quiet_logger(), std::move(config)).open(bytes, nullptr, "test", options);
}

size_t BytesReader::read(uint64_t offset, std::span<std::byte> into) {
  ascending &= offset >= end;
  end = offset + into.size();
  largest = std::max(largest, into.size());
  const uint64_t stop = std::min<uint64_t>(std::min(given, bytes_.size()), end);
  if (offset >= stop) return 0;
  std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), stop - offset, into.begin());
  return stop - offset;
}

}  // namespace ingot
