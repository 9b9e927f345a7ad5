#include <gtest/gtest.h>

#include "ingot/error.h"
#include "runtime/memory_testing.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

constexpr double kTolerance = 1e-4;

std::shared_ptr<const Engine> perceptron(const std::vector<Profile>& profiles = perceptron_profiles()) {
  return open_graph(perceptron_graph(), profiles);
}

std::unique_ptr<Context> create(const std::shared_ptr<const Engine>& engine, AllocationStrategy strategy) {
  return engine->create_context(ContextOptions{.name = "c", .allocation = strategy});
}

// One inference of a batch on memory of the application.
struct Inference {
  Inference(Context& context, int64_t batch)
      : x(perceptron_input(batch)), y(Tensor::allocate(DType::f32, {batch, 64})), context_(context) {
    context.set_shape("x", x.shape());
    context.bind_input("x", x.data<float>());
    context.bind_output("y", y.mutable_data<float>());
  }
  void run() {
    Stream stream;
    context_.enqueue(stream);
    stream.synchronize();
  }

  Tensor x, y;

 private:
  Context& context_;
};

TEST(MemoryOfContext, EveryStrategyGivesTheSameResult) {
  auto engine = perceptron();
  const Block block(engine->memory_size());
  for (auto strategy : {AllocationStrategy::fixed, AllocationStrategy::on_profile_change,
                        AllocationStrategy::user_managed, AllocationStrategy::as_needed}) {
    SCOPED_TRACE(to_string(strategy));
    auto context = create(engine, strategy);
    if (strategy == AllocationStrategy::user_managed) context->set_memory(block.data(), block.size());
    for (auto [profile, batch] : {std::pair<size_t, int64_t>{0, 5}, {1, 512}, {0, 16}, {1, 100}}) {
      context->set_profile(profile);
      Inference inference(*context, batch);
      inference.run();
      EXPECT_LT(difference(inference.y, perceptron_output(batch)), kTolerance) << batch;
    }
  }
}

TEST(MemoryOfContext, FixedHoldsTheLargestProfileFromTheStart) {
  auto engine = perceptron();
  EXPECT_EQ(engine->memory_size(), std::max(engine->memory_size(0), engine->memory_size(1)));
  auto context = create(engine, AllocationStrategy::fixed);
  EXPECT_EQ(context->stats().memory_bytes, engine->memory_size());
  Inference(*context, 3).run();
  context->set_profile(1);
  Inference(*context, 512).run();
  EXPECT_EQ(context->stats().memory_bytes, engine->memory_size());
}

TEST(MemoryOfContext, OnProfileChangeHoldsTheProfileAtHand) {
  auto engine = perceptron();
  ASSERT_LT(engine->memory_size(0), engine->memory_size(1));
  auto context = create(engine, AllocationStrategy::on_profile_change);
  EXPECT_EQ(context->stats().memory_bytes, engine->memory_size(0));
  context->set_profile(1);
  EXPECT_EQ(context->stats().memory_bytes, engine->memory_size(1));
  context->set_profile(0);
  EXPECT_EQ(context->stats().memory_bytes, engine->memory_size(0));
}

TEST(MemoryOfContext, AsNeededGrowsAndStays) {
  auto context = create(perceptron(), AllocationStrategy::as_needed);
  EXPECT_EQ(context->stats().memory_bytes, 0u);
  Inference(*context, 16).run();
  const uint64_t small = context->stats().memory_bytes;
  EXPECT_GT(small, 0u);
  Inference(*context, 1).run();
  EXPECT_EQ(context->stats().memory_bytes, small);
}

TEST(MemoryOfContext, WithoutUpperBoundItGrows) {
  GraphBuilder g("open");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n"), 8}));
  g.output("y", g.softmax(g.transpose(g.softmax(x), {.permutation = {1, 0}})));
  auto engine = open_graph(std::move(g).finish());
  EXPECT_EQ(thrown_by([&] { (void)engine->memory_size(); }).code(), ErrorCode::invalid_argument);
  auto context = engine->create_context();
  context->run({{"x", Tensor::allocate(DType::f32, {100, 8})}});
  EXPECT_GT(context->stats().memory_bytes, 0u);
}

TEST(MemoryOfContext, NeedIsZeroUntilAllShapesAreSet) {
  auto context = create(perceptron(), AllocationStrategy::user_managed);
  EXPECT_EQ(context->memory_size_for_shapes(), 0u);
  context->set_shape("x", {2, 64});
  const size_t small = context->memory_size_for_shapes();
  EXPECT_GT(small, 0u);
  context->set_shape("x", {16, 64});
  EXPECT_EQ(context->memory_size_for_shapes(), context->engine().memory_size(0));
  EXPECT_LT(small, context->memory_size_for_shapes());
  context->set_profile(1);  // forgets all shapes
  EXPECT_EQ(context->memory_size_for_shapes(), 0u);
}

// What is asked for is what is used: one byte less is refused, and nothing is written behind the block.
TEST(MemoryOfContext, NeedIsExact) {
  auto context = create(perceptron(), AllocationStrategy::user_managed);
  for (int64_t batch : {1, 7, 16}) {
    Inference inference(*context, batch);
    const size_t need = context->memory_size_for_shapes();
    const Block block(need + 4096);
    EXPECT_THROW(context->set_memory(block.data(), need - 1), Error);
    context->set_memory(block.data(), need);
    inference.run();
    EXPECT_LT(difference(inference.y, perceptron_output(batch)), kTolerance);
    for (size_t i = need; i < block.size(); ++i) ASSERT_EQ(block.data()[i], std::byte{0xFF}) << i - need;
    EXPECT_EQ(context->stats().memory_bytes, need);
    context->set_memory(nullptr, 0);
  }
}

// The larger product keeps x, the values between and its scratch at once; the least that any planner needs.
TEST(MemoryOfContext, LiesBetweenLiveValuesAndThoseWithScratch) {
  auto engine = perceptron();
  auto context = create(engine, AllocationStrategy::as_needed);
  context->set_profile(1);
  Inference(*context, 512).run();
  const EngineStats stats = engine->stats();
  const auto hidden = static_cast<size_t>(512 * 256 * 4);
  EXPECT_GE(engine->memory_size(), hidden);
  EXPECT_GE(stats.arena_least_bytes, static_cast<int64_t>(hidden));
  const auto bytes = static_cast<double>(engine->memory_size());
  EXPECT_GE(bytes, static_cast<double>(stats.arena_least_bytes));
  EXPECT_LE(bytes, 1.05 * static_cast<double>(stats.arena_least_bytes));
}

TEST(MemoryOfContext, OneBlockServesContextsThatRunInTurn) {
  auto engine = perceptron();
  const Block block(engine->memory_size(0));
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<std::unique_ptr<Inference>> inferences;
  for (int64_t batch : {1, 16, 9, 4}) {
    contexts.push_back(create(engine, AllocationStrategy::user_managed));
    contexts.back()->set_memory(block.data(), block.size());
    inferences.push_back(std::make_unique<Inference>(*contexts.back(), batch));
  }
  Stream stream;
  for (int round = 0; round < 3; ++round)
    for (auto& context : contexts) context->enqueue(stream);
  stream.synchronize();
  for (auto& inference : inferences)
    EXPECT_LT(difference(inference->y, perceptron_output(inference->x.shape()[0])), kTolerance);
}

TEST(MemoryOfContext, RunComputesInItToo) {
  auto engine = perceptron();
  auto context = create(engine, AllocationStrategy::user_managed);
  const std::map<std::string, Datum> inputs = {{"x", perceptron_input(8)}};
  EXPECT_EQ(thrown_by([&] { context->run(inputs); }).code(), ErrorCode::invalid_argument);
  const Block block(engine->memory_size());
  context->set_memory(block.data(), block.size());
  EXPECT_LT(difference(context->run(inputs).at("y").tensor(), perceptron_output(8)), kTolerance);
}

TEST(MemoryOfContext, MemoryOfPendingInferencesStays) {
  auto engine = perceptron();
  auto context = create(engine, AllocationStrategy::on_profile_change);
  Stream stream;
  Inference small(*context, 16);
  for (int i = 0; i < 50; ++i) context->enqueue(stream);
  context->set_profile(1);  // another block
  Inference large(*context, 512);
  context->enqueue(stream);
  stream.synchronize();
  EXPECT_LT(difference(small.y, perceptron_output(16)), kTolerance);
  EXPECT_LT(difference(large.y, perceptron_output(512)), kTolerance);
}

TEST(MemoryOfContext, EnqueueWithoutMemoryIsRefusedAndChangesNothing) {
  auto context = create(perceptron(), AllocationStrategy::user_managed);
  Inference inference(*context, 4);
  const Error error = thrown_by([&] { inference.run(); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.parts().expected.find(std::to_string(context->memory_size_for_shapes())), std::string::npos)
      << error.what();
  EXPECT_EQ(error.parts().observed, "none");
  EXPECT_NE(error.parts().remedy.find("set_memory"), std::string::npos);
  const Block block(context->memory_size_for_shapes());
  context->set_memory(block.data(), block.size());
  inference.run();
  EXPECT_LT(difference(inference.y, perceptron_output(4)), kTolerance);
}

TEST(MemoryOfContext, AfterLargerShapesTheBlockIsCheckedAgain) {
  auto context = create(perceptron(), AllocationStrategy::user_managed);
  Inference small(*context, 2);
  const Block block(context->memory_size_for_shapes());
  context->set_memory(block.data(), block.size());
  Inference large(*context, 16);
  const Error error = thrown_by([&] { large.run(); });
  EXPECT_EQ(error.parts().observed, std::to_string(block.size()) + " bytes");
}

TEST(MemoryOfContext, BadBlocksAreRefused) {
  auto engine = perceptron();
  const Block block(engine->memory_size());
  auto context = create(engine, AllocationStrategy::user_managed);
  const Error misaligned = thrown_by([&] { context->set_memory(block.data() + 64, block.size() - 64); });
  EXPECT_EQ(misaligned.code(), ErrorCode::invalid_argument);
  EXPECT_NE(misaligned.parts().expected.find("256"), std::string::npos);
  EXPECT_THROW(context->set_memory(nullptr, 1000), Error);
  auto other = create(engine, AllocationStrategy::fixed);
  const Error not_managed = thrown_by([&] { other->set_memory(block.data(), block.size()); });
  EXPECT_NE(not_managed.parts().observed.find("fixed"), std::string::npos);
  EXPECT_EQ(thrown_by([&] { (void)engine->memory_size(2); }).code(), ErrorCode::invalid_argument);
}

TEST(MemoryOfContext, RuntimeConfigGivesTheStrategyOfContextsThatDoNotChoose) {
  auto engine =
      open_graph(perceptron_graph(), perceptron_profiles(), {.allocation = AllocationStrategy::user_managed});
  auto context = engine->create_context("managed");
  const Block block(engine->memory_size());
  context->set_memory(block.data(), block.size());
  EXPECT_THROW(create(engine, AllocationStrategy::fixed)->set_memory(block.data(), block.size()), Error);
}

TEST(MemoryOfContext, TheReferenceDevicePlansNothing) {
  auto engine = open_graph(perceptron_graph(), perceptron_profiles(),
                           {.device = "reference", .allocation = AllocationStrategy::user_managed});
  EXPECT_EQ(engine->memory_size(), 0u);
  auto context = engine->create_context();
  Inference inference(*context, 4);
  EXPECT_EQ(context->memory_size_for_shapes(), 0u);
  inference.run();
  EXPECT_TRUE(inference.y.identical(perceptron_output(4)));
}

}  // namespace
}  // namespace ingot
