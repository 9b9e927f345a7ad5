#include <gtest/gtest.h>

#include "ingot/error.h"
#include "runtime/memory_testing.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

constexpr uint64_t kWeightBytes = 2 * 64 * 256 * 4;  // of the perceptron

TEST(MemoryUse, TellsWhatIsPersistentFromWhatAnInferenceNeeds) {
  auto engine = open_graph(perceptron_graph(), perceptron_profiles());
  const MemoryUse use = engine->memory_use();
  EXPECT_GT(use.host_persistent, 0u);
  EXPECT_LT(use.host_persistent, 64u << 10);
  EXPECT_EQ(use.device_persistent, 0u);
  EXPECT_GE(use.weights, kWeightBytes);
  EXPECT_GE(use.activation, 512u * 256 * 4);  // what relu gives for the largest batch
  EXPECT_GE(engine->memory_size(), use.activation);
  EXPECT_LE(static_cast<double>(engine->memory_size()),
            1.05 * static_cast<double>(use.activation + use.scratch));
}

TEST(MemoryUse, OfAContextFollowsItsShapes) {
  auto engine = open_graph(perceptron_graph(), perceptron_profiles());
  auto context = engine->create_context();
  EXPECT_EQ(context->memory_use().activation, engine->memory_use().activation);
  context->set_shape("x", {2, 64});
  const MemoryUse small = context->memory_use();
  context->set_shape("x", {16, 64});
  EXPECT_GT(context->memory_use().activation, small.activation);
  EXPECT_LT(context->memory_use().activation, engine->memory_use().activation);
  EXPECT_EQ(context->memory_use().weights, small.weights);
}

TEST(MemoryUse, WithoutUpperBoundIsThatOfTheShapesSoFar) {
  GraphBuilder g("open");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n"), 8}));
  g.output("y", g.softmax(g.transpose(g.softmax(x), {.permutation = {1, 0}})));
  auto engine = open_graph(std::move(g).finish());
  engine->create_context()->run({{"x", Tensor::allocate(DType::f32, {100, 8})}});
  EXPECT_GE(engine->memory_use().activation, 100u * 8 * 4);
}

TEST(MemoryUse, FiguresAndChangesAreLogged) {
  KeepingLogger logger(LogLevel::info);
  auto engine = open_graph(perceptron_graph(), perceptron_profiles(), {.cache_folder = ""}, logger);
  const MemoryUse use = engine->memory_use();
  auto expect = [&](const std::string& text) { EXPECT_TRUE(logger.has(LogLevel::info, text)) << text; };
  expect("host persistent memory " + std::to_string(use.host_persistent) + " bytes");
  expect("device persistent memory 0");
  expect("scratch memory " + std::to_string(use.scratch));
  expect("activation memory " + std::to_string(use.activation));
  expect("weights " + std::to_string(use.weights));
  expect("memory: opening of engine ");
  auto context = engine->create_context("c");
  const std::string block = std::to_string(engine->memory_size());
  expect("memory: creation of 'c' of engine ");
  expect(": accounted +" + block + ", now ");
  expect("; resident ");
}

// Softmax along a long axis needs scratch for each thread.
TEST(WorkspaceLimit, IsHonouredOrRefusedWithTheStepThatNeedsMore) {
  const Graph graph = perceptron_graph();
  const auto need = open_graph(graph, perceptron_profiles())->memory_use().scratch;
  ASSERT_GT(need, 0u);
  auto open = [&](uint64_t limit) {
    return open_graph(graph, perceptron_profiles(), {.workspace_limit = limit});
  };
  auto engine = open(need);
  engine->create_context()->run({{"x", perceptron_input(512)}});
  EXPECT_LE(static_cast<uint64_t>(engine->stats().scratch_bytes), need);
  const Error error = thrown_by([&] { open(0)->create_context()->run({{"x", perceptron_input(512)}}); });
  EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
  EXPECT_NE(error.parts().object.find("workspace of step"), std::string::npos) << error.what();
  EXPECT_NE(error.parts().expected.find("at most 0 bytes"), std::string::npos);
  EXPECT_NE(error.parts().remedy.find("workspace_limit"), std::string::npos);
}

TEST(MemoryUse, NobodyAsksTheSystemWhereNobodyListens) {
  KeepingLogger logger(LogLevel::warning);
  auto engine = open_graph(perceptron_graph(), perceptron_profiles(), {.cache_folder = ""}, logger);
  engine->create_context("c");
  EXPECT_FALSE(logger.has(LogLevel::info, "memory"));
}

}  // namespace
}  // namespace ingot
