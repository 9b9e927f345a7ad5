#include "runtime/weight_streaming.h"

#include <gtest/gtest.h>

#include "base/resident_memory.h"
#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/peak_memory.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

constexpr int64_t kWidth = 1024, kLayers = 16;
constexpr uint64_t kLayerBytes = kWidth * kWidth * 4;
constexpr uint64_t kAllBytes = kLayers * kLayerBytes;
constexpr uint64_t kMegabyte = 1 << 20;

Tensor numbers(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (float& value : tensor.mutable_data<float>()) {
    seed = seed * 1664525 + 1013904223;
    value = (static_cast<float>(seed >> 8) / static_cast<float>(1 << 23) - 1) / 16;
  }
  return tensor;
}

// 64 MiB of weights.
std::string write_engine(const TempFolder& folder) {
  GraphBuilder g("deep");
  Value x = g.input("x", Type::tensor(DType::f32, {2, kWidth}));
  for (uint32_t layer = 0; layer < kLayers; ++layer)
    x = g.tanh(g.matmul(x, g.constant(numbers({kWidth, kWidth}, layer))));
  g.output("y", x);
  const auto bytes = engine_bytes(std::move(g).finish());
  return folder.write("deep.ingot", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

class WeightStreamingTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Engine> open(std::optional<uint64_t> budget, bool cached = true) const {
    const RuntimeConfig config{
        .threads = 1, .cache_folder = cached ? folder_.file("cache") : "", .weight_streaming_budget = budget};
    return Runtime(quiet_logger(), config).open(path_);
  }
  static Tensor run(const Engine& engine) {
    return engine.create_context()->run({{"x", numbers({2, kWidth}, 99)}}).at("y").tensor();
  }

  TempFolder folder_;
  const std::string path_ = write_engine(folder_);
};

TEST_F(WeightStreamingTest, ResultsAreTheSameAtAnyBudget) {
  const Tensor expected = run(*open(std::nullopt, false));
  for (const bool cached : {false, true})
    for (uint64_t budget : {uint64_t{0}, kLayerBytes, 3 * kLayerBytes + 5, kAllBytes, uint64_t{UINT64_MAX}}) {
      auto engine = open(budget, cached);
      EXPECT_TRUE(run(*engine).identical(expected)) << budget;
      EXPECT_TRUE(run(*engine).identical(expected)) << budget;
    }
}

TEST_F(WeightStreamingTest, FiguresFollowTheBudget) {
  auto engine = open(3 * kLayerBytes);
  EXPECT_EQ(engine->streamable_weights_size(), kAllBytes);
  EXPECT_EQ(engine->weight_streaming_budget(), 3 * kLayerBytes);
  EXPECT_EQ(engine->weight_streaming_scratch_size(), kLayerBytes);
  EXPECT_EQ(engine->stats().streamed_weight_bytes, kAllBytes - 3 * kLayerBytes);
  EXPECT_EQ(engine->stats().weight_bytes, kAllBytes);
  engine->set_weight_streaming_budget(kAllBytes);
  EXPECT_EQ(engine->weight_streaming_scratch_size(), 0u);
  EXPECT_EQ(engine->stats().streamed_weight_bytes, 0u);
  EXPECT_EQ(engine->stats().weight_bytes, kAllBytes);
}

TEST_F(WeightStreamingTest, PeakOfInferencesStaysWithinTheBudget) {
  for (const bool cached : {true, false})
    for (const uint64_t budget : {uint64_t{0}, 4 * kLayerBytes}) {
      auto engine = open(budget, cached);
      auto context = engine->create_context();
      const auto peak = peak_of([&] {
        for (int i = 0; i < 3; ++i) context->run({{"x", numbers({2, kWidth}, 99)}});
      });
      if (!peak) GTEST_SKIP() << "the system does not tell the peak";
      // One more weight is in memory while a thread writes it to the cache.
      EXPECT_LT(*peak, budget + engine->weight_streaming_scratch_size() + kLayerBytes + 2 * kMegabyte)
          << budget << " cached " << cached;
    }
}

TEST_F(WeightStreamingTest, WithoutBudgetAllWeightsStay) {
  std::shared_ptr<const Engine> engine;
  const uint64_t before = resident_memory().now;
  engine = open(std::nullopt);
  run(*engine);
  if (!kMemoryIsSanitized) {
    EXPECT_GT(resident_memory().now, before + kAllBytes / 2);
  }
  EXPECT_EQ(engine->stats().streamed_weight_bytes, 0u);
}

TEST_F(WeightStreamingTest, OpeningStaysWithinTheBudgetToo) {
  for (const char* start : {"cold", "warm"}) {
    std::shared_ptr<const Engine> engine;
    const auto peak = peak_of([&] { engine = open(0); });
    if (!peak) GTEST_SKIP() << "the system does not tell the peak";
    EXPECT_LT(*peak, kAllBytes / 2) << start;  // what is packed from, what is packed, what is published
  }
}

TEST_F(WeightStreamingTest, TheBudgetStaysWhileContextsExist) {
  auto engine = open(0);
  auto context = engine->create_context("c");
  const Error error = thrown_by([&] { engine->set_weight_streaming_budget(kAllBytes); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.parts().expected, "no context");
  EXPECT_EQ(error.parts().observed, "1");
  EXPECT_EQ(engine->weight_streaming_budget(), 0u);
  context.reset();
  engine->set_weight_streaming_budget(kAllBytes);
  EXPECT_EQ(engine->weight_streaming_budget(), kAllBytes);
}

TEST_F(WeightStreamingTest, OthersAreToldHowToAskForIt) {
  auto engine = open(std::nullopt);
  for (const Error& error : {thrown_by([&] { engine->set_weight_streaming_budget(0); }),
                             thrown_by([&] { (void)engine->streamable_weights_size(); })}) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.parts().remedy.find("weight_streaming_budget"), std::string::npos) << error.what();
  }
}

TEST_F(WeightStreamingTest, AutomaticBudgetIsAllWhereMemoryIsPlenty) {
  auto engine = open(0);
  EXPECT_LE(engine->weight_streaming_automatic_budget(), kAllBytes);
  EXPECT_EQ(automatic_budget(100, 1000, 50), 100u);
  EXPECT_EQ(automatic_budget(100, 90, 50), 40u);
  EXPECT_EQ(automatic_budget(100, 20, 50), 0u);
}

// Weights in memory of the application are not pages of a file: they must never be dropped.
TEST_F(WeightStreamingTest, BytesOfTheApplicationAreLeftAlone) {
  const std::string bytes = read_file(path_);
  const RuntimeConfig config{.threads = 1, .cache_folder = "", .weight_streaming_budget = 0};
  auto engine = Runtime(quiet_logger(), config).open(std::as_bytes(std::span(bytes)), nullptr, "bytes");
  const Tensor expected = run(*open(std::nullopt, false));
  EXPECT_TRUE(run(*engine).identical(expected));
  EXPECT_TRUE(run(*engine).identical(expected));
}

}  // namespace
}  // namespace ingot
