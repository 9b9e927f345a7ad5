// Engines that were optimised with weights that can be replaced: what passes would fold stays replaceable.
#include <gtest/gtest.h>

#include <cmath>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "ingot/weights.h"
#include "support/quiet_logger.h"
#include "support/temp_folder.h"

namespace ingot {
namespace {

constexpr double kTolerance = 1e-4;

// Adds constants with names, of numbers that the seed decides.
class Model {
 public:
  explicit Model(uint32_t seed) : seed_(seed) {}
  void start_again(uint32_t seed) { seed_ = seed; }

  Value weight(const std::string& name, const Shape& shape, float low, float high) {
    Tensor tensor = Tensor::allocate(DType::f32, shape);
    for (float& value : tensor.mutable_data<float>()) value = low + (high - low) * next();
    return named(name, tensor);
  }
  Value bytes(const std::string& name, const Shape& shape) {
    Tensor tensor = Tensor::allocate(DType::i8, shape);
    for (int8_t& value : tensor.mutable_data<int8_t>()) value = static_cast<int8_t>(255 * next() - 127);
    return named(name, tensor);
  }
  Graph finish(Value y) {
    g.output("y", y);
    return std::move(g).finish();
  }

  GraphBuilder g{"model"};

 private:
  Value named(const std::string& name, const Tensor& tensor) {
    g.set_origin(name);
    const Value value = g.constant(tensor);
    g.set_origin("");
    return value;
  }
  float next() {  // from 0 to 1
    seed_ = seed_ * 1664525 + 1013904223;
    return static_cast<float>(seed_ >> 8) / static_cast<float>(1 << 24);
  }

  uint32_t seed_;
};

Type floats(Shape shape) { return Type::tensor(DType::f32, std::vector<Dim>(shape.begin(), shape.end())); }

// A convolution whose weights a pass would multiply by those of the norm behind it.
Graph convolution(uint32_t seed) {
  Model m(seed);
  const Value x = m.g.input("x", floats({1, 8, 12, 12}));
  const Value conv = m.g.conv(x, m.weight("conv.weight", {16, 8, 3, 3}, -0.2f, 0.2f),
                              m.weight("conv.bias", {16}, -1, 1), {.pads = {1, 1, 1, 1}});
  return m.finish(
      m.g.relu(m.g.batch_norm(conv, m.weight("norm.scale", {16}, 0.5, 2), m.weight("norm.bias", {16}, -1, 1),
                              m.weight("norm.mean", {16}, -1, 1), m.weight("norm.variance", {16}, 0.5, 2))));
}

// Arithmetic on weights alone, which a pass would do at build time.
Graph transposed(uint32_t seed) {
  Model m(seed);
  const Value x = m.g.input("x", floats({4, 32}));
  const Value w = m.g.transpose(m.weight("weight", {48, 32}, -0.3f, 0.3f), {.permutation = {1, 0}});
  const Value scaled = m.g.mul(w, m.weight("scale", {48}, 0.5, 2));
  return m.finish(m.g.add(m.g.matmul(x, scaled), m.weight("bias", {48}, -1, 1)));
}

// Weights in 8 bits, with their scales.
Graph quantised(uint32_t seed) {
  Model m(seed);
  const Value x = m.g.input("x", floats({4, 64}));
  const Value w = m.g.dequantize(m.bytes("weight", {64, 32}), m.weight("scale", {32}, 0.001f, 0.01f), {},
                                 {.to = DType::f32, .axis = 1});
  return m.finish(m.g.softmax(m.g.matmul(x, w)));
}

// Two names for equal content, as long as it is equal.
Graph twins(uint32_t seed) {
  Model m(seed);
  const Value x = m.g.input("x", floats({4, 32}));
  const Value a = m.weight("a", {32, 32}, -0.3f, 0.3f);
  m.start_again(seed == 1 ? seed : seed + 1);
  const Value b = m.weight("b", {32, 32}, -0.3f, 0.3f);
  return m.finish(m.g.add(m.g.matmul(x, a), m.g.relu(m.g.matmul(x, b))));
}

struct Case {
  const char* name;
  Graph (*graph)(uint32_t seed);
};

class RefitOptimised : public testing::TestWithParam<std::tuple<Case, const char*>> {
 protected:
  Graph graph(uint32_t seed) const { return std::get<0>(GetParam()).graph(seed); }
  RuntimeConfig config() const { return {.device = std::get<1>(GetParam()), .cache_folder = ""}; }
};

Tensor run(const std::vector<std::byte>& engine, const RuntimeConfig& config) {
  const auto opened = Runtime(quiet_logger(), config).open(engine, nullptr, "test");
  Shape shape;
  for (const Dim& dim : *opened->inputs()[0].type.dims) shape.push_back(*dim.value());
  Tensor x = Tensor::allocate(DType::f32, shape);
  for (size_t i = 0; i < x.data<float>().size(); ++i)
    x.mutable_data<float>()[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  return opened->create_context()->run({{"x", x}}).at("y").tensor();
}

// What the reference device makes of the model as it is.
Tensor expected(const Graph& graph) {
  return run(build_engine(graph), {.device = "reference", .cache_folder = ""});
}

void expect_near(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  double worst = 0;
  for (size_t i = 0; i < a.data<float>().size(); ++i) {
    const double difference = std::abs(double{a.data<float>()[i]} - b.data<float>()[i]);
    worst = std::max(worst, std::isnan(difference) ? INFINITY : difference);
  }
  EXPECT_LE(worst, kTolerance);
}

TEST_P(RefitOptimised, GivesWhatTheNewModelGives) {
  BuilderConfig build;
  build.refit = RefitMode::whole;
  const std::vector<std::byte> bytes = build_engine(graph(1), build);
  expect_near(run(bytes, config()), expected(graph(1)));
  const auto engine = Runtime(quiet_logger(), config()).open(bytes, nullptr, "test");
  Refitter refitter(engine);
  refitter.set_from(graph(2));
  refitter.commit();
  const std::vector<std::byte> saved = engine->serialize();
  EXPECT_EQ(saved, build_engine(graph(2), build)) << "the same bytes as a build with the new weights";
  expect_near(run(saved, config()), expected(graph(2)));
}

TEST_P(RefitOptimised, FillsAStrippedEngineInTheSameBits) {
  const std::vector<std::byte> full = build_engine(graph(1));
  BuilderConfig build;
  build.strip_weights = true;
  const auto engine =
      Runtime(quiet_logger(), config()).open(build_engine(graph(1), build), nullptr, "stripped");
  if (engine->stats().stripped_weight_bytes == 0) return;
  TempFolder folder;
  const std::string path =
      folder.write("full.ingot", {reinterpret_cast<const char*>(full.data()), full.size()});
  Refitter refitter(engine);
  refitter.set_from_engine(path);
  refitter.commit();
  EXPECT_EQ(engine->serialize(), full);
}

INSTANTIATE_TEST_SUITE_P(Models, RefitOptimised,
                         testing::Combine(testing::Values(Case{"convolution", convolution},
                                                          Case{"transposed", transposed},
                                                          Case{"quantised", quantised}, Case{"twins", twins}),
                                          testing::Values("cpu", "reference")),
                         [](const auto& info) {
                           return fmt::format("{}_{}", std::get<0>(info.param).name, std::get<1>(info.param));
                         });

}  // namespace
}  // namespace ingot
