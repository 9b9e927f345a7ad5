#include "device/cpu/winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "device/cpu/cpu_device.h"
#include "device/reference/evaluate.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kChannels = 40, kOutputs = 33, kSize = 14;

Tensor random_tensor(Shape shape, unsigned seed) {
  Tensor tensor = Tensor::allocate(DType::f32, std::move(shape));
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (float& x : tensor.mutable_data<float>()) x = normal(random);
  return tensor;
}

// y = relu(conv(x) + bias) + rest, 3x3 cells, padded by one.
Graph conv_graph() {
  GraphBuilder g("conv");
  const Dims in = {2, kChannels, kSize, kSize}, out = {2, kOutputs, kSize, kSize};
  Value x = g.input("x", Type::tensor(DType::f32, in));
  Value rest = g.input("rest", Type::tensor(DType::f32, out));
  Value w = g.constant(random_tensor({kOutputs, kChannels, 3, 3}, 1));
  Value bias = g.constant(random_tensor({kOutputs}, 2));
  g.output("y", g.add(g.relu(g.conv(x, w, bias, {.pads = {1, 1, 1, 1}})), rest));
  return std::move(g).finish();
}

class Kept : public OutputSink {
 public:
  std::optional<std::span<std::byte>> memory(size_t, const Shape&) override { return std::nullopt; }
  void deliver(size_t, Datum output) override { datum = std::move(output); }
  Datum datum;
};

Tensor run_on_cpu(const Graph& graph, std::span<const Datum> inputs) {
  Kept kept;
  device().compile(std::make_shared<const Graph>(graph), {})->start()->run(inputs, kept);
  return kept.datum.tensor();
}

TEST(Winograd, TakesLargeConvolutionsOf3x3) {
  const Graph graph = conv_graph();
  const auto conv = std::ranges::find(graph.nodes(), Op::Conv, &Node::op);
  EXPECT_TRUE(suits_winograd(graph, *conv));
}

TEST(Winograd, IsAsNearAsSumsOfFloats) {
  const Graph graph = conv_graph();
  const std::vector<Datum> inputs = {random_tensor({2, kChannels, kSize, kSize}, 3),
                                     random_tensor({2, kOutputs, kSize, kSize}, 4)};
  const Tensor wanted = reference::evaluate(graph, inputs)[0].tensor();
  const Tensor got = run_on_cpu(graph, inputs);
  double error = 0, norm = 0;
  for (size_t i = 0; i < wanted.data<float>().size(); ++i) {
    error += std::pow(got.data<float>()[i] - wanted.data<float>()[i], 2.0);
    norm += std::pow(wanted.data<float>()[i], 2.0);
  }
  EXPECT_LT(std::sqrt(error / norm), 1e-6);
}

// A tile mixes its inputs, but what is not finite reaches only the outputs whose windows hold it.
TEST(Winograd, InfinityAndNanStayWithinTheirWindows) {
  const Graph graph = conv_graph();
  Tensor x = random_tensor({2, kChannels, kSize, kSize}, 3);
  x.mutable_data<float>()[5 * kSize + 6] = std::numeric_limits<float>::infinity();
  x.mutable_data<float>()[kSize * kSize + 9 * kSize + 2] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Datum> inputs = {x, random_tensor({2, kOutputs, kSize, kSize}, 4)};
  const Tensor wanted = reference::evaluate(graph, inputs)[0].tensor();
  const Tensor got = run_on_cpu(graph, inputs);
  for (size_t i = 0; i < wanted.data<float>().size(); ++i) {
    const float a = wanted.data<float>()[i], b = got.data<float>()[i];
    if (!std::isfinite(a))
      ASSERT_TRUE(std::isnan(a) ? std::isnan(b) : a == b) << i;
    else
      ASSERT_NEAR(a, b, 1e-4) << i;
  }
}

}  // namespace
}  // namespace ingot::cpu
