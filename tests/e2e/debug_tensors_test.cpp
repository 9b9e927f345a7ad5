// Values inside a network, shown to a listener while an inference runs.
#include <gtest/gtest.h>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "support/quiet_logger.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using Floats = std::vector<float>;

// y = relu(x * 2) + 1 over f32[n, 2]; "doubled" is x * 2, "positive" its relu.
Graph sample() {
  GraphBuilder g("sample");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n", 1, 8), 2}));
  const Value doubled = g.mul(x, g.constant(Tensor::of<float>({1}, {2})));
  const Value positive = g.relu(doubled);
  g.output("doubled", doubled);
  g.output("y", g.add(positive, g.constant(Tensor::of<float>({1}, {1}))));
  g.output("positive", positive);
  g.set_metadata("author", "nobody");
  return std::move(g).finish();
}

std::shared_ptr<const Engine> open(const std::vector<std::string>& debug_tensors, const char* device) {
  BuilderConfig config;
  config.debug_tensors = debug_tensors;
  return Runtime(quiet_logger(), {.device = device, .cache_folder = ""})
      .open(build_engine(sample(), config), nullptr, "sample");
}

const Tensor kInput = Tensor::of<float>({2, 2}, {1, -1, 2, -3});
const Tensor kOutput = Tensor::of<float>({2, 2}, {3, 1, 5, 1});

class Debug : public testing::TestWithParam<const char*> {
 protected:
  // Keeps what it is shown.
  DebugListener listener() {
    return [this](const DebugTensor& tensor) {
      EXPECT_EQ(tensor.dtype, DType::f32);
      EXPECT_EQ(tensor.shape, kInput.shape());
      const auto* elements = static_cast<const float*>(tensor.memory);
      shown_[tensor.name] = Floats(elements, elements + tensor.bytes / sizeof(float));
    };
  }
  static Tensor run(Context& context) { return context.run({{"x", kInput}}).at("y").tensor(); }

  std::map<std::string, Floats> shown_;
};

INSTANTIATE_TEST_SUITE_P(Devices, Debug, testing::Values("cpu", "reference"));

TEST_P(Debug, ValuesAreShownToTheListener) {
  auto engine = open({"doubled", "positive"}, GetParam());
  ASSERT_EQ(engine->outputs().size(), 1u);
  ASSERT_EQ(engine->debug_tensors().size(), 2u);
  EXPECT_EQ(engine->debug_tensors()[1].name, "positive");
  EXPECT_EQ(engine->metadata(), (std::map<std::string, std::string>{{"author", "nobody"}}));
  auto context = engine->create_context();
  context->set_debug_listener(listener());
  EXPECT_TRUE(run(*context).identical(kOutput));
  EXPECT_EQ(shown_, (std::map<std::string, Floats>{{"doubled", {2, -2, 4, -6}}, {"positive", {2, 0, 4, 0}}}));
}

TEST_P(Debug, BoundMemoryAndStreamsWorkAsEver) {
  auto context = open({"doubled"}, GetParam())->create_context();
  context->set_debug_listener(listener());
  Floats y(4), positive(4);
  context->set_shape("x", {2, 2});
  context->bind_input("x", kInput.data<float>());
  context->bind_output("y", std::span(y));
  context->bind_output("positive", std::span(positive));
  Stream stream;
  context->enqueue(stream);
  stream.synchronize();
  EXPECT_EQ(y, (Floats{3, 1, 5, 1}));
  EXPECT_EQ(positive, (Floats{2, 0, 4, 0}));
  EXPECT_EQ(shown_.at("doubled"), (Floats{2, -2, 4, -6}));
}

// The program of every day is that of the network without debug tensors.
TEST_P(Debug, OffTheyCostNothing) {
  auto steps = [&](const std::vector<std::string>& names, bool listens) {
    auto context = open(names, GetParam())->create_context();
    if (listens) context->set_debug_listener(listener());
    context->set_profiling(true);
    run(*context);
    return context->execution_profile().steps.size();
  };
  auto context = open({"doubled", "positive"}, GetParam())->create_context();
  EXPECT_TRUE(run(*context).identical(kOutput));
  EXPECT_TRUE(shown_.empty());
  context->set_debug_listener(listener());
  run(*context);
  EXPECT_EQ(shown_.size(), 2u);
  shown_.clear();
  context->set_debug_listener(nullptr);
  EXPECT_TRUE(run(*context).identical(kOutput));
  EXPECT_TRUE(shown_.empty());
  if (std::string(GetParam()) == "cpu") {
    EXPECT_EQ(steps({"doubled", "positive"}, false), 1u) << "one fused loop";
    EXPECT_GT(steps({"doubled", "positive"}, true), 0u);
  }
}

TEST_P(Debug, WhatTheListenerThrowsIsTheErrorOfTheInference) {
  auto context = open({"doubled"}, GetParam())->create_context("c");
  context->set_debug_listener([](const DebugTensor&) { throw std::runtime_error("disk full"); });
  const Error e = thrown_by([&] { run(*context); });
  EXPECT_EQ(e.parts().object, "context 'c': debug listener");
  EXPECT_EQ(e.parts().name, "doubled");
  EXPECT_EQ(e.parts().observed, "disk full");
  context->set_debug_listener(listener());
  run(*context);
  EXPECT_EQ(shown_.size(), 1u);
}

TEST_P(Debug, AnEngineWithoutThemHasNothingToListenTo) {
  auto engine = open({}, GetParam());
  EXPECT_EQ(engine->outputs().size(), 3u);
  EXPECT_TRUE(engine->debug_tensors().empty());
  auto context = engine->create_context();
  const Error e = thrown_by([&] { context->set_debug_listener(listener()); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(e.parts().name, "sample");
  context->set_debug_listener(nullptr);
}

TEST(DebugBuild, NamesThatDoNotFitAreRefused) {
  for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{
           {"nobody"}, {"x"}, {"doubled", "doubled"}, {"doubled", "y", "positive"}}) {
    BuilderConfig config;
    config.debug_tensors = names;
    const Error e = thrown_by([&] { build_engine(sample(), config); });
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(e.parts().object, "debug tensor");
  }
}

}  // namespace
}  // namespace ingot
