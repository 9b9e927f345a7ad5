#include <gtest/gtest.h>
#include <sys/resource.h>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "support/child.h"
#include "support/quiet_logger.h"
#include "support/thrown_by.h"
#include "tests/devices/graph_maker.h"

// What no device may turn into a crash.
namespace ingot::devices {
namespace {

class Faults : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Devices, Faults, ::testing::ValuesIn(Runtime::devices()),
                         [](const auto& info) { return info.param; });

std::unique_ptr<Context> open(const Graph& graph, const std::string& device, int threads) {
  RuntimeConfig config;
  config.device = device;
  config.threads = threads;
  return Runtime(quiet_logger(), config).open(build_engine(graph), nullptr, "faults")->create_context("main");
}

// x of any size, repeated `times` along a new axis and added to its own reverse: memory as large as wanted.
Graph growing_graph() {
  GraphBuilder g("growing");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n")}));
  const Value times = g.input("times", Type::tensor(DType::i64, {2}));
  const Value large = g.exp(g.broadcast_to(x, times));
  g.output("y", g.add(g.cum_sum(large, g.constant(Tensor::of<int64_t>({}, {0}))), large));
  return std::move(g).finish();
}

std::map<std::string, Datum> repeated(int64_t times) {
  return {{"x", Tensor::of<float>({4}, {1, 2, 3, 4})}, {"times", Tensor::of<int64_t>({2}, {times, 4})}};
}

// In a child, whose memory is limited: on some machines the system would grant what it does not have.
TEST_P(Faults, OutOfMemoryIsAnErrorAndTheContextLivesOn) {
  EXPECT_TRUE(runs_in_child([] {
    const auto context = open(growing_graph(), GetParam(), 1);
    context->run(repeated(3));
    const rlimit limit{rlim_t{4} << 30, rlim_t{4} << 30};
    setrlimit(RLIMIT_AS, &limit);
    const Error e = thrown_by([&] { context->run(repeated(int64_t{1} << 38)); });
    const auto outputs = context->run(repeated(5));
    return e.code() == ErrorCode::out_of_memory &&
           std::string(e.what()).find("context 'main'") != std::string::npos &&
           outputs.at("y").tensor().shape() == Shape{5, 4};
  }));
}

TEST_P(Faults, MoreThreadsThanCpusAreNoFault) {
  const auto context = open(growing_graph(), GetParam(), 64);
  EXPECT_EQ(context->run(repeated(1000)).at("y").tensor().shape(), (Shape{1000, 4}));
}

// Whatever the device can be given of a size that fits no memory is said before it runs.
TEST_P(Faults, ASizeBeyondAllMemoryIsAnError) {
  const auto context = open(growing_graph(), GetParam(), 1);
  for (int64_t times : {int64_t{1} << 60, int64_t{-1}}) {
    const Error e = thrown_by([&] { context->run(repeated(times)); });
    EXPECT_TRUE(e.code() == ErrorCode::invalid_argument || e.code() == ErrorCode::out_of_memory) << e.what();
  }
}

}  // namespace
}  // namespace ingot::devices
