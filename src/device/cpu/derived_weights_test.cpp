#include "device/cpu/derived_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "device/cpu/cpu_device.h"
#include "device/cpu/quantised.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kDepth = 1100, kColumns = 1000, kRows = 3;  // more weights than are folded into constants

struct Numbers {
  std::vector<float> x, scales;
  std::vector<int8_t> weights;

  Numbers() {
    std::mt19937 random(1);
    for (int64_t i = 0; i < kRows * kDepth; ++i)
      x.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
    for (int64_t i = 0; i < kColumns; ++i)
      scales.push_back(std::uniform_real_distribution<float>(0.01f, 0.1f)(random));
    for (int64_t i = 0; i < kDepth * kColumns; ++i)
      weights.push_back(static_cast<int8_t>(std::uniform_int_distribution<int>(-127, 127)(random)));
  }
};

// x times weights in bytes that become numbers by a cast and a product, transposed on the way or not.
Graph product(const Numbers& n, bool transposed) {
  GraphBuilder g("product");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim(kRows), Dim(kDepth)}));
  std::vector<int8_t> weights = n.weights;
  if (transposed)
    for (int64_t k = 0; k < kDepth; ++k)
      for (int64_t c = 0; c < kColumns; ++c)
        weights[static_cast<size_t>(c * kDepth + k)] = n.weights[static_cast<size_t>(k * kColumns + c)];
  const Shape shape = transposed ? Shape{kColumns, kDepth} : Shape{kDepth, kColumns};
  const Value scales =
      g.constant(Tensor::of<float>(transposed ? Shape{kColumns, 1} : Shape{1, kColumns}, n.scales));
  Value w = g.mul(g.cast(g.constant(Tensor::of<int8_t>(shape, weights)), {.to = DType::f32}), scales);
  if (transposed) w = g.transpose(w, {.permutation = {1, 0}});
  g.output("y", g.matmul(x, w));
  return std::move(g).finish();
}

const Node& matmul_of(const Graph& graph) { return *std::ranges::find(graph.nodes(), Op::MatMul, &Node::op); }

struct Sink : OutputSink {
  std::optional<std::span<std::byte>> memory(size_t, const Shape&) override { return std::nullopt; }
  void deliver(size_t, Datum output) override { result = std::move(output); }
  Datum result;
};

void expect_products(std::span<const float> y, const Numbers& n) {
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < kColumns; ++c) {
      double sum = 0;
      for (int64_t k = 0; k < kDepth; ++k)
        sum += static_cast<double>(n.x[static_cast<size_t>(r * kDepth + k)]) *
               n.weights[static_cast<size_t>(k * kColumns + c)];
      sum *= static_cast<double>(n.scales[static_cast<size_t>(c)]);
      ASSERT_NEAR(y[static_cast<size_t>(r * kColumns + c)], sum, 1e-3) << r << ", " << c;
    }
}

TEST(DerivedWeights, ArePackedOnceAndNeverComputedByTheProgram) {
  const Numbers n;
  for (bool transposed : {false, true}) {
    const auto graph = std::make_shared<const Graph>(product(n, transposed));
    EXPECT_TRUE(has_derived_weights(*graph, matmul_of(*graph)));
    const auto program = device().compile(graph, CompileOptions());
    Sink sink;
    const auto execution = program->start();
    const std::vector<Datum> inputs = {Tensor::of<float>({kRows, kDepth}, n.x)};
    execution->run(inputs, sink);
    expect_products(sink.result.tensor().data<float>(), n);
  }
}

TEST(DerivedWeights, AreNamedByWhatTheyAreMadeOf) {
  const Numbers n;
  const Graph a = product(n, false), b = product(n, true);
  auto name = [](const Graph& graph, const char* constant) {
    return derived_name(graph, matmul_of(graph).operands[1], [&](Value) { return constant; });
  };
  EXPECT_EQ(name(a, "w"), "mul f32(cast f32(w;);w;)");
  EXPECT_NE(name(a, "w"), name(a, "v"));
  EXPECT_NE(name(a, "w"), name(b, "w"));
}

TEST(DerivedWeights, WhatAnInputDecidesIsNone) {
  GraphBuilder g("product");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim(4), Dim(4)}));
  const Value scale = g.input("scale", Type::tensor(DType::f32, {Dim(4)}));
  const Value w = g.constant(Tensor::of<float>({4, 4}, std::vector<float>(16, 1)));
  g.output("y", g.matmul(x, g.mul(w, scale)));
  g.output("z", g.matmul(x, w));
  const Graph graph = std::move(g).finish();
  for (const Node& node : graph.nodes())
    EXPECT_FALSE(has_derived_weights(graph, node)) << "a constant is packed as it is";
}

}  // namespace
}  // namespace ingot::cpu
