#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "device/reference/evaluate.h"
#include "ingot/builder.h"
#include "ingot/error.h"
#include "ingot/import.h"
#include "ingot/runtime.h"
#include "passes/pipeline.h"
#include "support/device_levels.h"
#include "support/quiet_logger.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/expected_failures.h"

// Every case of the ONNX test data by each route from a graph to results, through an engine on every device
// of this build: one GoogleTest suite a route, one GoogleTest case each. A case listed in
// expected_failures.txt must fail, and every other must pass.
namespace ingot::conformance {
namespace {

using Results = std::vector<Datum>;

struct Route {
  std::string suite;
  std::function<Results(const Graph& graph, const std::vector<Datum>& inputs)> run;
  bool only_bytes = false;
};

Results run_as_imported(const Graph& graph, const std::vector<Datum>& inputs) {
  return reference::evaluate(graph, inputs);
}

// Passes may change the order of sums and the place of roundings, and nothing else: a few units in the last
// place of the type.
Tolerance rounding_of(const Datum& result) {
  DType dtype = result.is_tensor() ? result.tensor().dtype() : DType::f32;
  switch (dtype) {
    case DType::f16: return {.relative = 0x1p-9, .absolute = 1e-6};
    case DType::bf16: return {.relative = 0x1p-6, .absolute = 1e-6};
    default: return {.relative = 1e-5, .absolute = 1e-6};
  }
}

Results run_optimised(const Graph& graph, const std::vector<Datum>& inputs) {
  Graph optimised = run_pipeline(graph, {.verify_each = true});
  Results results = reference::evaluate(optimised, inputs), plain = reference::evaluate(graph, inputs);
  for (size_t i = 0; i < plain.size(); ++i) {
    auto d = difference(plain[i], results[i], rounding_of(plain[i]));
    if (!d.empty())
      throw Error({.code = ErrorCode::internal,
                   .object = "result of the optimised graph",
                   .name = graph.outputs()[i].name,
                   .expected = "the result without passes",
                   .observed = d});
  }
  return results;
}

// All that an application does: build an engine, open it, run it.
Results run_through_engine(const DeviceLevel& level, const Graph& graph, const std::vector<Datum>& inputs) {
  RuntimeConfig config = level.config();
  config.threads = 2;
  auto context =
      Runtime(quiet_logger(), config).open(build_engine(graph), nullptr, graph.name())->create_context();
  std::map<std::string, Datum> named;
  for (size_t i = 0; i < inputs.size(); ++i) named[context->engine().inputs().at(i).name] = inputs[i];
  std::map<std::string, Datum> outputs = context->run(named);
  Results results;
  for (const PortInfo& port : context->engine().outputs()) results.push_back(outputs.at(port.name));
  return results;
}

Route through_engine(const DeviceLevel& level, bool only_bytes) {
  return {"OnnxConformanceThroughEngine_" + level.name,
          [level](const Graph& graph, const std::vector<Datum>& inputs) {
            return run_through_engine(level, graph, inputs);
          },
          only_bytes};
}

std::vector<Route> all_routes() {
  std::vector<Route> routes = {{"OnnxConformance", run_as_imported},
                               {"OnnxConformanceOptimised", run_optimised}};
  for (const DeviceLevel& level : device_levels()) routes.push_back(through_engine(level, false));
  for (const DeviceLevel& level : emulated_levels()) routes.push_back(through_engine(level, true));
  return routes;
}

// By its name: cases of quantisation and of products of integers.
bool multiplies_bytes(const Case& test) {
  for (const auto* part : {"integer", "qlinear", "quant", "qgemm", "qattention"})
    if (test.name.find(part) != std::string::npos) return true;
  return false;
}

// Empty on success, else what went wrong.
std::string run(const Case& test, const Route& route) {
  try {
    Graph graph = import_onnx(test.model.string());
    // No generator is defined for Bernoulli, so its values cannot be compared.
    bool values = test.name.find("test_bernoulli") == std::string::npos;
    for (const DataSet& set : read_data_sets(test, graph)) {
      auto outputs = route.run(graph, set.inputs);
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (!set.outputs[i]) continue;
        auto d = difference(*set.outputs[i], outputs[i], {test.rtol, test.atol, values});
        if (!d.empty()) return fmt::format("output {}: {}", graph.outputs()[i].name, d);
      }
    }
    return {};
  } catch (const Error& e) {
    return fmt::format("{}: {}", to_string(e.code()), e.what());
  }
}

class ConformanceCase : public ::testing::Test {
 public:
  ConformanceCase(const Route& route, Case test, std::string reason)
      : route_(route), test_(std::move(test)), reason_(std::move(reason)) {}

  void TestBody() override {
    std::string problem = run(test_, route_);
    if (reason_.empty()) {
      EXPECT_EQ(problem, "");
    } else if (problem.empty()) {
      ADD_FAILURE() << "passes now: remove it from expected_failures.txt (" << reason_ << ")";
    } else {
      // Skipped, so that the counts of a run never take it for a pass.
      GTEST_SKIP() << "expected failure: " << reason_;
    }
  }

 private:
  const Route& route_;
  Case test_;
  std::string reason_;
};

class ConformanceData : public ::testing::Test {
 public:
  explicit ConformanceData(size_t cases) : cases_(cases) {}

  void TestBody() override {
    if (cases_ > 0) return;
    if (std::getenv("CI") != nullptr)
      FAIL() << "no conformance data: run scripts/fetch-models and set INGOT_MODELS";
    GTEST_SKIP() << "no conformance data: run scripts/fetch-models and set INGOT_MODELS";
  }

 private:
  size_t cases_;
};

void register_cases() {
  auto cases = list_cases();
  auto reasons = read_expected_failures();
  size_t count = cases.size();
  for (Case& test : list_peer_cases()) cases.push_back(std::move(test));
  ::testing::RegisterTest("OnnxConformance", "DataIsPresent", nullptr, nullptr, __FILE__, __LINE__,
                          [count]() -> ::testing::Test* { return new ConformanceData(count); });
  static const std::vector<Route> routes = all_routes();
  for (const Route& route : routes) {
    for (const Case& test : cases) {
      if (route.only_bytes && !multiplies_bytes(test)) continue;
      std::string reason = reasons[test.name];
      ::testing::RegisterTest(
          route.suite.c_str(), test.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [&route, test, reason]() -> ::testing::Test* { return new ConformanceCase(route, test, reason); });
    }
  }
}

}  // namespace
}  // namespace ingot::conformance

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ingot::conformance::register_cases();
  return RUN_ALL_TESTS();
}
