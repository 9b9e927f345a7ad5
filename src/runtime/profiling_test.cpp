#include <algorithm>
#include <array>
#include <future>
#include <map>

#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

const std::map<std::string, Datum> kInputs = {{"x", Tensor::of<float>({1, 3}, {1, 2, 3})},
                                              {"z", Tensor::of<float>({1, 3}, {4, 5, 6})}};

RuntimeConfig on(std::string device) {
  RuntimeConfig config;
  config.device = std::move(device);
  config.threads = 1;
  return config;
}

std::unique_ptr<Context> context_on(std::string device) {
  return open_graph(affine_graph(), {}, on(std::move(device)))->create_context();
}

TEST(Profiling, IsOffAtFirst) {
  const auto context = context_on("cpu");
  context->run(kInputs);
  EXPECT_TRUE(context->execution_profile().steps.empty());
}

TEST(Profiling, CountsTheRunsSinceItWasSwitchedOn) {
  const auto context = context_on("cpu");
  context->set_profiling(true);
  context->run(kInputs);
  context->set_profiling(true);
  for (int i = 0; i < 5; ++i) context->run(kInputs);
  const ExecutionProfile profile = context->execution_profile();
  EXPECT_EQ(profile.inferences, 5u);
  EXPECT_EQ(profile.threads, 1);
  ASSERT_FALSE(profile.steps.empty());
  double sum = 0;
  for (const StepProfile& step : profile.steps) {
    EXPECT_EQ(step.runs, 5u) << step.info.name;
    EXPECT_LE(step.min_seconds, step.median_seconds);
    EXPECT_LE(step.min_seconds * 5, step.seconds * 1.000001);
    sum += step.seconds;
  }
  EXPECT_LE(sum, profile.seconds);
  EXPECT_EQ(profile.events.size(), profile.steps.size() * 5);
  context->set_profiling(false);
  context->run(kInputs);
  EXPECT_TRUE(context->execution_profile().steps.empty());
}

TEST(Profiling, StepsNameTheirOperandsAndKernels) {
  const auto context = context_on("cpu");
  context->set_profiling(true);
  context->run(kInputs);
  const ExecutionProfile profile = context->execution_profile();
  const auto nest =
      std::ranges::find(profile.steps, "nest", [](const StepProfile& s) { return s.info.kind; });
  ASSERT_NE(nest, profile.steps.end());
  EXPECT_NE(std::ranges::find(nest->info.reads, "f32[1, 3]"), nest->info.reads.end());
  EXPECT_EQ(nest->info.writes, (std::vector<std::string>{"f32[1, 3]"}));
  ASSERT_EQ(nest->info.kernels.size(), 1u);
  const KernelListing listing = context->engine().list_kernel(nest->info.kernels[0].key);
  EXPECT_NE(listing.llvm_ir.find("define"), std::string::npos);
  EXPECT_NE(listing.assembly.find("ret"), std::string::npos);
}

TEST(Profiling, UnknownKernelsAreNotFound) {
  for (const std::string& device : Runtime::devices()) {
    const auto context = context_on(device);
    EXPECT_EQ(thrown_by([&] { context->engine().list_kernel("0123"); }).code(), ErrorCode::not_found)
        << device;
  }
}

// y = x doubled three times, in a loop.
Graph doubling_graph() {
  GraphBuilder body("body");
  body.input("i", Type::tensor(DType::i64, {}));
  const Value go = body.input("go", Type::tensor(DType::boolean, {}));
  const Value state = body.input("state", Type::tensor(DType::f32, {1000}));
  body.output("go_on", go);
  body.output("next", body.add(state, state));
  GraphBuilder g("doubling");
  const Value x = g.input("x", Type::tensor(DType::f32, {1000}));
  const Value trips = g.constant(Tensor::of<int64_t>({}, {3}));
  g.output("y", g.loop(trips, {}, {x}, std::make_shared<const Graph>(std::move(body).finish()))[0]);
  return std::move(g).finish();
}

TEST(Profiling, BodiesOfLoopsAreMeasuredApart) {
  const auto context = open_graph(doubling_graph(), {}, on("cpu"))->create_context();
  context->set_profiling(true);
  const std::vector<float> x(1000, 1.5F);
  for (int i = 0; i < 2; ++i) {
    const auto y = context->run({{"x", Tensor::of<float>({1000}, x)}});
    EXPECT_EQ(y.at("y").tensor().data<float>()[999], 12.0F);
  }
  const ExecutionProfile profile = context->execution_profile();
  std::map<std::string, uint64_t> runs;
  double sum = 0;
  for (const StepProfile& step : profile.steps) {
    runs[step.info.kind] += step.runs;
    sum += step.seconds;
  }
  EXPECT_EQ(runs["control"], 2u);
  EXPECT_EQ(runs["nest"], 6u);
  EXPECT_LE(sum, profile.seconds);  // nothing counts twice
}

TEST(Profiling, OpsWithoutKernelsAreLoggedOnceAndMarked) {
  GraphBuilder g("deep");  // more axes than kernels take
  const Value x = g.input("x", Type::tensor(DType::f32, {1, 1, 1, 1, 1, 1, 1, 1, 1, 2}));
  g.output("y", g.relu(g.relu(x)));
  KeepingLogger logger(LogLevel::info);
  const auto context = open_graph(std::move(g).finish(), {}, on("cpu"), logger)->create_context();
  EXPECT_TRUE(logger.has(LogLevel::info, "run on the reference device: relu"));
  context->set_profiling(true);
  const auto y = context->run({{"x", Tensor::of<float>({1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, {-1, 2})}});
  EXPECT_EQ(y.at("y").tensor().data<float>()[1], 2);
  const ExecutionProfile profile = context->execution_profile();
  EXPECT_EQ(std::ranges::count(profile.steps, "reference", [](const StepProfile& s) { return s.info.kind; }),
            2);
}

TEST(Profiling, MachineHasASpeed) {
  const MachineSpeed speed = context_on("cpu")->engine().measure_speed();
  // Any processor with AVX2 of the last ten years, and far beyond the fastest.
  EXPECT_GT(speed.flops, 1e9);
  EXPECT_LT(speed.flops, 1e15);
  EXPECT_GT(speed.bytes, 1e8);
  EXPECT_LT(speed.bytes, 1e14);
  EXPECT_EQ(context_on("reference")->engine().measure_speed().flops, 0);
}

TEST(Profiling, IsRefusedWhileInferencesArePending) {
  const auto context = context_on("cpu");
  context->set_shape("x", {1, 3});
  context->set_shape("z", {1, 3});
  const std::array<float, 3> x = {1, 2, 3};
  context->bind_input("x", std::span<const float>(x));
  context->bind_input("z", std::span<const float>(x));
  std::array<float, 3> y{};
  std::promise<void> open;
  context->set_output_allocator("y", [&](const std::string&, const Shape&, size_t) {
    open.get_future().wait();
    return y.data();
  });
  Stream stream;
  context->enqueue(stream);
  const Error error = thrown_by([&] { context->set_profiling(true); });
  open.set_value();
  stream.synchronize();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  context->set_profiling(true);
}

}  // namespace
}  // namespace ingot
