#include <gtest/gtest.h>

#include <thread>

#include "ingot/error.h"
#include "ingot/weights.h"
#include "runtime/memory_testing.h"
#include "runtime/weights_testing.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

class RefitterTest : public ::testing::TestWithParam<const char*> {
 protected:
  RuntimeConfig config() const { return {.device = GetParam(), .cache_folder = ""}; }
  std::shared_ptr<const Engine> open(FileOptions options) const {
    return open_bytes(engine_bytes(layers_graph(1), std::move(options)), config());
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, RefitterTest, ::testing::Values("cpu", "reference"),
                         [](const auto& info) { return std::string(info.param); });

void set_all(Refitter& refitter, uint32_t seed) {
  for (const std::string& name : layers_weight_names()) refitter.set(name, layers_weight(name, seed));
}

TEST_P(RefitterTest, WholeGivesWhatAnEngineOfTheNewWeightsGives) {
  const auto engine = open({.refit = RefitMode::whole});
  EXPECT_EQ(engine->refit_mode(), RefitMode::whole);
  const auto context = engine->create_context();
  expect_layers(*engine, *context, 1);
  Refitter refitter(engine);
  for (const uint32_t seed : {2, 3, 1}) {
    set_all(refitter, seed);
    refitter.commit();
    expect_layers(*engine, *context, seed);
    expect_layers(*engine, *engine->create_context(), seed);
  }
}

TEST_P(RefitterTest, ListsWhatCanBeGiven) {
  const Refitter refitter(open({.refit = RefitMode::whole}));
  ASSERT_EQ(refitter.weights().size(), 3u);
  const WeightInfo& bias = refitter.weights()[0];
  EXPECT_EQ(bias.name, "dense.bias");
  EXPECT_EQ(bias.dtype, DType::f32);
  EXPECT_EQ(bias.shape, (Shape{64}));
  EXPECT_EQ(bias.bytes, 256u);
  EXPECT_FALSE(bias.missing || bias.identical);
  EXPECT_EQ(refitter.weights()[1].name, "dense.weight");
  EXPECT_EQ(refitter.weights()[2].name, "head.weight");
  EXPECT_TRUE(refitter.missing().empty());
}

TEST_P(RefitterTest, OneWeightOfAWholeMayChangeAlone) {
  const auto engine = open({.refit = RefitMode::whole});
  const auto context = engine->create_context();
  Refitter refitter(engine);
  refitter.set("head.weight", layers_weight("head.weight", 5));
  refitter.commit();
  EXPECT_FALSE(run_layers(*context).identical(layers_reference(1)));
  refitter.set("head.weight", layers_weight("head.weight", 1));
  refitter.commit();
  expect_layers(*engine, *context, 1);
}

TEST_P(RefitterTest, IndividualTakesThoseThatWereNamed) {
  const auto engine = open({.refit = RefitMode::individual, .refit_weights = {"head.weight"}});
  Refitter refitter(engine);
  ASSERT_EQ(refitter.weights().size(), 1u);
  set_all(refitter, 2);
  const Error e = thrown_by([&] { refitter.commit(); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(e.parts().observed, "2 that the engine does not have: 'dense.bias', 'dense.weight'");
  expect_layers(*engine, *engine->create_context(), 1);
}

TEST_P(RefitterTest, IdenticalTakesTheSameContentOnly) {
  const auto engine = open({.refit = RefitMode::identical});
  Refitter refitter(engine);
  EXPECT_TRUE(refitter.weights()[0].identical);
  set_all(refitter, 1);
  refitter.commit();
  expect_layers(*engine, *engine->create_context(), 1);
  refitter.set("dense.bias", layers_weight("dense.bias", 2));
  const Error e = thrown_by([&] { refitter.commit(); });
  EXPECT_EQ(e.parts().observed, "1 of other content than it was built with: 'dense.bias'");
  expect_layers(*engine, *engine->create_context(), 1);
}

TEST_P(RefitterTest, AllOrNothing) {
  const auto engine = open({.refit = RefitMode::whole});
  const auto context = engine->create_context();
  const std::vector<std::byte> before = engine->serialize();
  Refitter refitter(engine);
  set_all(refitter, 2);
  refitter.set("dense.bias", Tensor::allocate(DType::f16, {64}));
  refitter.set("dense.weight", Tensor::allocate(DType::f32, {64, 63}));
  refitter.set("tail.weight", Tensor::allocate(DType::f32, {1}));
  const Error e = thrown_by([&] { refitter.commit(); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(e.parts().name, "test");
  for (const char* part : {"'dense.bias' is f16[64] instead of f32[64]",
                           "'dense.weight' is f32[64, 63] instead of f32[64, 64]", "'tail.weight'"})
    EXPECT_NE(e.parts().observed.find(part), std::string::npos) << e.what();
  expect_layers(*engine, *context, 1);
  EXPECT_EQ(engine->serialize(), before);
}

TEST_P(RefitterTest, WhatWasSetStaysSetAfterARefusal) {
  const auto engine = open({.refit = RefitMode::whole});
  Refitter refitter(engine);
  set_all(refitter, 2);
  refitter.set("dense.bias", Tensor::allocate(DType::f32, {1}));
  EXPECT_EQ(thrown_by([&] { refitter.commit(); }).code(), ErrorCode::invalid_argument);
  refitter.set("dense.bias", layers_weight("dense.bias", 2));
  refitter.commit();
  expect_layers(*engine, *engine->create_context(), 2);
}

TEST_P(RefitterTest, ARefusedAllocationLeavesTheOldWeights) {
  const auto allocator = std::make_shared<CountingAllocator>();
  RuntimeConfig config = this->config();
  config.allocator = allocator;
  const auto engine = open_bytes(engine_bytes(layers_graph(1), {.refit = RefitMode::whole}), config);
  const auto context = engine->create_context();
  Refitter refitter(engine);
  set_all(refitter, 2);
  int64_t number = 0;
  for (bool done = false; !done; ++number) {
    ASSERT_LT(number, 1000);
    allocator->refuse(number);
    try {
      refitter.commit();
      done = true;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
    }
    allocator->refuse(CountingAllocator::kNever);
    if (!done) expect_layers(*engine, *context, 1);
  }
  expect_layers(*engine, *context, 2);
  if (engine->device() == "cpu") {
    EXPECT_GT(number, 1) << "packed weights come from the allocator";
  }
}

TEST_P(RefitterTest, AnEngineWithoutAModeIsRefused) {
  const auto engine = open({});
  const Error e = thrown_by([&] { Refitter refitter(engine); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(e.parts().observed, "an engine that was built without a refit mode");
}

TEST_P(RefitterTest, TakesAModelOfTheSameStructure) {
  const auto engine = open({.refit = RefitMode::whole});
  Refitter refitter(engine);
  refitter.set_from(layers_graph(4));
  refitter.commit();
  expect_layers(*engine, *engine->create_context(), 4);
}

TEST_P(RefitterTest, RefusesAModelOfAnotherStructure) {
  Refitter refitter(open({.refit = RefitMode::whole}));
  EXPECT_EQ(thrown_by([&] { refitter.set_from(affine_graph()); }).code(), ErrorCode::incompatible);
}

TEST_P(RefitterTest, TakesTheWeightsOfAnotherEngine) {
  TempFolder folder;
  const std::vector<std::byte> other = engine_bytes(layers_graph(6), {.refit = RefitMode::whole});
  const std::string path =
      folder.write("other.ingot", {reinterpret_cast<const char*>(other.data()), other.size()});
  const auto engine = open({.refit = RefitMode::whole});
  Refitter refitter(engine);
  refitter.set_from_engine(path);
  refitter.commit();
  expect_layers(*engine, *engine->create_context(), 6);
}

TEST_P(RefitterTest, AStrippedEngineTakesItsWeightsBack) {
  const auto engine = open({.stripped = true});
  EXPECT_EQ(engine->stats().stripped_weight_bytes, 64u * 64 * 4 + 64 * 16 * 4);
  EXPECT_EQ(thrown_by([&] { engine->create_context(); }).code(), ErrorCode::incompatible);
  Refitter refitter(engine);
  EXPECT_EQ(refitter.missing(), (std::vector<std::string>{"dense.weight", "head.weight"}));
  refitter.set("dense.weight", layers_weight("dense.weight", 1));
  EXPECT_EQ(refitter.missing(), (std::vector<std::string>{"head.weight"}));
  const Error e = thrown_by([&] { refitter.commit(); });
  EXPECT_EQ(e.parts().observed, "1 missing: 'head.weight'");
  refitter.set("head.weight", layers_weight("head.weight", 1));
  refitter.commit();
  expect_layers(*engine, *engine->create_context(), 1);
  EXPECT_EQ(engine->stats().stripped_weight_bytes, 0u);
  EXPECT_EQ(engine->serialize(), engine_bytes(layers_graph(1)));
}

TEST_P(RefitterTest, AStrippedEngineWithoutAModeRefusesOtherContent) {
  const auto engine = open({.stripped = true});
  Refitter refitter(engine);
  refitter.set("dense.weight", layers_weight("dense.weight", 1));
  refitter.set("head.weight", layers_weight("head.weight", 2));
  const Error e = thrown_by([&] { refitter.commit(); });
  EXPECT_EQ(e.parts().observed, "1 of other content than it was built with: 'head.weight'");
}

TEST_P(RefitterTest, AStrippedEngineMayTakeOtherWeights) {
  const auto engine = open({.stripped = true, .refit = RefitMode::whole});
  Refitter refitter(engine);
  refitter.set_from(layers_graph(2));
  refitter.commit();
  expect_layers(*engine, *engine->create_context(), 2);
}

TEST_P(RefitterTest, InferencesRunWithOldOrNewWeightsAndNeverSomeOfBoth) {
  const auto engine = open({.refit = RefitMode::whole});
  const Tensor first = run_layers(*engine->create_context());
  Refitter refitter(engine);
  set_all(refitter, 2);
  refitter.commit();
  const Tensor second = run_layers(*engine->create_context());
  std::atomic<bool> stop = false;
  std::atomic<int> strange = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      const auto context = engine->create_context();
      while (!stop) {
        const Tensor y = run_layers(*context);
        if (!y.identical(first) && !y.identical(second)) ++strange;
      }
    });
  for (const uint32_t seed : {1, 2, 1, 2, 1}) {
    set_all(refitter, seed);
    refitter.commit();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(strange, 0);
  expect_layers(*engine, *engine->create_context(), 1);
}

// Packed weights lie in a cache; those of other content must not be found there.
TEST(RefitterCache, PackedWeightsFollowTheContent) {
  TempFolder folder;
  const RuntimeConfig config{.device = "cpu", .cache_folder = folder.path()};
  const std::vector<std::byte> bytes = engine_bytes(layers_graph(1), {.refit = RefitMode::whole});
  for (const uint32_t seed : {2, 3, 2}) {
    const auto engine = open_bytes(bytes, config);
    expect_layers(*engine, *engine->create_context(), 1);
    Refitter refitter(engine);
    set_all(refitter, seed);
    refitter.commit();
    expect_layers(*engine, *engine->create_context(), seed);
  }
}

}  // namespace
}  // namespace ingot
