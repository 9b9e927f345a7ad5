#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "support/device_levels.h"
#include "support/quiet_logger.h"
#include "support/thrown_by.h"
#include "tests/devices/compare.h"
#include "tests/devices/dynamic_models.h"
#include "tests/devices/run.h"

// New shapes in every strategy: right answers, no compiler on the way to them, bounded memory.
namespace ingot::devices {
namespace {

using Strategy = SpecializationStrategy;
using Inputs = std::map<std::string, Datum>;

struct Model {
  std::string name;
  Graph (*make)();
  std::vector<std::pair<int64_t, int64_t>> ranges;  // of the axes of x; both ends equal where fixed
};

const Model kTransformer{"transformer", dynamic_transformer, {{1, 5}, {1, 70}, {48, 48}}};
const Model kCnn{"cnn", dynamic_cnn, {{1, 3}, {3, 3}, {8, 40}, {8, 40}}};

Shape draw(const Model& model, std::mt19937& random) {
  Shape shape;
  for (const auto& [low, high] : model.ranges)
    shape.push_back(std::uniform_int_distribution<int64_t>(low, high)(random));
  return shape;
}

Inputs inputs_of(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
  return {{"x", Tensor::of<float>(shape, values)}};
}

std::shared_ptr<const Engine> open(const Model& model, RuntimeConfig config) {
  config.cache_folder = "";
  return Runtime(quiet_logger(), config).open(build_engine(model.make()), nullptr, model.name);
}

std::shared_ptr<const Engine> open(const Model& model, Strategy strategy, RuntimeConfig config = {}) {
  config.specialization = strategy;
  return open(model, config);
}

// Threads that compile in the background are of the lowest priority; this waits until they are done.
void settle(const Engine& engine) {
  while (engine.stats().specializations_pending > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void expect_equal_bits(const Inputs& expected, const Inputs& actual, const std::string& what) {
  for (const auto& [name, datum] : expected)
    EXPECT_TRUE(identical(datum, actual.at(name))) << what << ", " << name;
}

constexpr Allowance kClose{.relative = 1e-4, .of_magnitude = 0, .absolute = 2e-5};

struct Case {
  Model model;
  DeviceLevel level;
  Strategy strategy;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Model& model : {kTransformer, kCnn})
    for (const DeviceLevel& level : device_levels())
      for (const Strategy strategy : {Strategy::lazy, Strategy::eager, Strategy::none})
        if (level.device != "reference") cases.push_back({model, level, strategy});
  return cases;
}

class DynamicShapes : public testing::TestWithParam<Case> {};
std::string name_of(const testing::TestParamInfo<Case>& info) {
  const std::string_view strategy = info.param.strategy == Strategy::lazy    ? "lazy"
                                    : info.param.strategy == Strategy::eager ? "eager"
                                                                             : "none";
  return fmt::format("{}_{}_{}", info.param.model.name, info.param.level.name, strategy);
}
INSTANTIATE_TEST_SUITE_P(Cases, DynamicShapes, testing::ValuesIn(all_cases()), name_of);

TEST_P(DynamicShapes, AnswersAreThoseOfTheReferenceBeforeAndAfterTheSwap) {
  const Case& c = GetParam();
  RuntimeConfig reference;
  reference.device = "reference";
  const auto oracle = open(c.model, reference)->create_context();
  const auto engine = open(c.model, c.strategy, c.level.config());
  const auto context = engine->create_context();
  std::mt19937 random(11);
  for (unsigned i = 0; i < 8; ++i) {
    const Inputs inputs = inputs_of(draw(c.model, random), i);
    const Inputs expected = oracle->run(inputs), first = context->run(inputs);
    for (const auto& [name, datum] : expected)
      EXPECT_EQ(first_difference(datum, first.at(name), kClose), "") << name;
    settle(*engine);
    expect_equal_bits(first, context->run(inputs), "after the swap");
  }
}

class Lazy : public testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(Models, Lazy, testing::Values(kTransformer, kCnn),
                         [](const auto& info) { return info.param.name; });

TEST_P(Lazy, NoInferenceEntersTheCompilerAndCountsAreBounded) {
  for (const DeviceLevel& level : device_levels()) {
    if (level.device == "reference") continue;
    const auto engine = open(GetParam(), Strategy::lazy, level.config());
    const auto context = engine->create_context();
    std::mt19937 random(1);
    for (unsigned i = 0; i < 300; ++i) context->run(inputs_of(draw(GetParam(), random), i));
    settle(*engine);
    const EngineStats stats = engine->stats();
    EXPECT_EQ(stats.kernels_compiled_in_calls, 0U) << level.name;
    EXPECT_EQ(stats.reference_nodes, 0U);
    EXPECT_GT(stats.plans, 200U);
    EXPECT_LE(stats.plans - stats.plans_evicted, 64U);
    EXPECT_LE(stats.kernels, 400U);
    EXPECT_EQ(stats.specializations_pending, 0U);
  }
}

TEST_P(Lazy, GenericKernelsServeUntilTheSwap) {
  const auto engine = open(GetParam(), Strategy::lazy);
  const auto context = engine->create_context();
  std::mt19937 random(2);
  const uint64_t opened = engine->stats().kernels_compiled;
  for (unsigned i = 0; i < 40; ++i) context->run(inputs_of(draw(GetParam(), random), i));
  settle(*engine);
  const EngineStats stats = engine->stats();
  EXPECT_GT(stats.generic_runs, 0U);
  EXPECT_GT(stats.specialized, 0U);
  EXPECT_GT(stats.specialize_seconds, 0);
  EXPECT_EQ(stats.kernels_compiled_in_background, stats.kernels_compiled - opened);
}

TEST_P(Lazy, NoneCompilesNothingAfterOpening) {
  const auto engine = open(GetParam(), Strategy::none);
  const auto context = engine->create_context();
  std::mt19937 random(3);
  const uint64_t opened = engine->stats().kernels_compiled;
  for (unsigned i = 0; i < 100; ++i) context->run(inputs_of(draw(GetParam(), random), i));
  EXPECT_EQ(engine->stats().kernels_compiled, opened);
  EXPECT_EQ(engine->stats().specialized, 0U);
}

TEST_P(Lazy, EagerAndDeterministicNeverServeByGenericKernels) {
  for (const bool deterministic : {false, true}) {
    RuntimeConfig config;
    config.deterministic = deterministic;
    const auto engine = open(GetParam(), deterministic ? Strategy::lazy : Strategy::eager, config);
    const auto context = engine->create_context();
    std::mt19937 random(4);
    for (unsigned i = 0; i < 40; ++i) context->run(inputs_of(draw(GetParam(), random), i));
    const EngineStats stats = engine->stats();
    EXPECT_EQ(stats.generic_runs, 0U);
    EXPECT_EQ(stats.specialized, 0U);
    EXPECT_EQ(stats.kernels_compiled_in_background, 0U);
  }
}

TEST_P(Lazy, APlanThatWasEvictedIsMadeAgainAndGivesTheSameBits) {
  const auto engine = open(GetParam(), Strategy::lazy);
  const auto context = engine->create_context();
  std::mt19937 random(6);
  const Inputs inputs = inputs_of(draw(GetParam(), random), 5);
  const Inputs first = context->run(inputs);
  for (unsigned i = 0; i < 150; ++i) context->run(inputs_of(draw(GetParam(), random), i));
  EXPECT_GT(engine->stats().plans_evicted, 0U);
  expect_equal_bits(first, context->run(inputs), "after an eviction");
}

TEST_P(Lazy, ContextsThatMeetNewShapesAtOnceGetTheBitsOfOneAlone) {
  constexpr unsigned kRuns = 40;
  std::vector<Inputs> inputs, expected;
  std::mt19937 random(8);
  RuntimeConfig frozen;
  frozen.deterministic = true;
  frozen.threads = 1;
  const auto alone = open(GetParam(), frozen)->create_context();
  for (unsigned i = 0; i < kRuns; ++i) {
    inputs.push_back(inputs_of(draw(GetParam(), random), i));
    expected.push_back(alone->run(inputs.back()));
  }
  const auto engine = open(GetParam(), Strategy::lazy);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto context = engine->create_context();
      for (unsigned i = 0; i < kRuns; ++i) {
        const unsigned at = (i * 7 + t * 11) % kRuns;
        expect_equal_bits(expected[at], context->run(inputs[at]), "at once");
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(engine->stats().kernels_compiled_in_calls, 0U);
}

// So that memory can be given before anybody knows which kernels will be there.
TEST_P(Lazy, GenericKernelsNeedTheMemoryOfTheOthers) {
  const auto generic = open(GetParam(), Strategy::none), best = open(GetParam(), Strategy::eager);
  const auto need = [](const Engine& engine, const Shape& shape) {
    const auto context = engine.create_context();
    context->run(inputs_of(shape, 1));
    context->set_shape("x", shape);
    return context->memory_size_for_shapes();
  };
  std::mt19937 random(12);
  std::map<Shape, size_t> needs;
  while (needs.size() < 20) {
    const Shape shape = draw(GetParam(), random);
    needs[shape] = need(*generic, shape);
  }
  EXPECT_GT(generic->stats().generic_runs, 0U);
  for (const auto& [shape, bytes] : needs) EXPECT_EQ(bytes, need(*best, shape)) << to_string(shape);
}

// An engine may go while better plans for it wait.
TEST_P(Lazy, AnEngineThatIsDroppedDropsWhatWaits) {
  const auto context = open(GetParam(), Strategy::lazy)->create_context();
  std::mt19937 random(9);
  for (unsigned i = 0; i < 10; ++i) context->run(inputs_of(draw(GetParam(), random), i));
}

std::vector<InputShapes> sets_of(const Model& model, int count) {
  std::mt19937 random(21);
  std::vector<InputShapes> sets;
  for (int i = 0; i < count; ++i) sets.push_back({{"x", draw(model, random)}});
  return sets;
}

TEST_P(Lazy, PreparedShapesRunTheirBestKernelsAtOnce) {
  RuntimeConfig config;
  config.deterministic = true;
  const auto engine = open(GetParam(), config);
  const auto sets = sets_of(GetParam(), 12);
  size_t calls = 0;
  PrepareOptions options;
  options.threads = 2;
  options.progress = [&](size_t done, size_t total) {
    EXPECT_EQ(done, ++calls);
    EXPECT_EQ(total, sets.size());
    return true;
  };
  const PrepareReport report = engine->prepare(sets, options);
  EXPECT_EQ(calls, sets.size());
  EXPECT_EQ(report.prepared, sets.size());
  EXPECT_FALSE(report.deadline_reached);
  EXPECT_GT(report.kernels_compiled + report.kernels_cached, 0U);
  const EngineStats before = engine->stats();
  EXPECT_EQ(before.inferences, 0U);
  const auto context = engine->create_context();
  for (const InputShapes& set : sets) context->run(inputs_of(set.at("x"), 1));
  EXPECT_EQ(engine->stats().kernels_compiled, before.kernels_compiled);
  EXPECT_EQ(engine->stats().plans, before.plans);
  EXPECT_EQ(engine->stats().generic_runs, 0U);
}

TEST(Prepare, StopsAtTheDeadlineAndWhenAsked) {
  const auto engine = open(kTransformer, Strategy::lazy);
  PrepareOptions late;
  late.deadline = std::chrono::steady_clock::now();
  const PrepareReport report = engine->prepare(sets_of(kTransformer, 5), late);
  EXPECT_TRUE(report.deadline_reached);
  EXPECT_EQ(report.prepared, 0U);
  PrepareOptions stopping;
  stopping.progress = [](size_t done, size_t) { return done < 2; };
  const Error e = thrown_by([&] { engine->prepare(sets_of(kTransformer, 5), stopping); });
  EXPECT_EQ(e.code(), ErrorCode::cancelled);
  EXPECT_NE(std::string(e.what()).find("a stop after 2"), std::string::npos);
  EXPECT_EQ(engine->prepare(sets_of(kTransformer, 5)).prepared, 5U);
}

TEST(Prepare, RefusesShapesThatTheEngineDoesNotTake) {
  const auto engine = open(kTransformer, Strategy::lazy);
  const auto code = [&](const InputShapes& shapes) {
    return thrown_by([&] { engine->prepare({shapes}); }).code();
  };
  EXPECT_EQ(code({}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"x", {1, 2}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"x", {1, 2, 47}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"x", {1, 513, 48}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"x", {1, -1, 48}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"z", {1, 2, 48}}}), ErrorCode::not_found);
  EXPECT_EQ(engine->prepare({{{"x", {1, 2, 48}}}}).prepared, 1U);
}

}  // namespace
}  // namespace ingot::devices
