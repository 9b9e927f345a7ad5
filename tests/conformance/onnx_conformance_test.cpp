#include <gtest/gtest.h>

#include <cstdlib>

#include "device/reference/evaluate.h"
#include "ingot/error.h"
#include "ingot/import.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/expected_failures.h"

// Every case of the ONNX test data on the reference device, one GoogleTest case each. A case listed in
// expected_failures.txt must fail, and every other must pass.
namespace ingot::conformance {
namespace {

// Empty on success, else what went wrong.
std::string run(const Case& test) {
  try {
    Graph graph = import_onnx(test.model.string());
    // No generator is defined for Bernoulli, so its values cannot be compared.
    bool values = test.name.find("test_bernoulli") == std::string::npos;
    for (const DataSet& set : read_data_sets(test, graph)) {
      auto outputs = reference::evaluate(graph, set.inputs);
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
  ConformanceCase(Case test, std::string reason) : test_(std::move(test)), reason_(std::move(reason)) {}

  void TestBody() override {
    std::string problem = run(test_);
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
  ::testing::RegisterTest("OnnxConformance", "DataIsPresent", nullptr, nullptr, __FILE__, __LINE__,
                          [count]() -> ::testing::Test* { return new ConformanceData(count); });
  for (const Case& test : cases) {
    std::string reason = reasons[test.name];
    ::testing::RegisterTest(
        "OnnxConformance", test.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [test, reason]() -> ::testing::Test* { return new ConformanceCase(test, reason); });
  }
}

}  // namespace
}  // namespace ingot::conformance

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ingot::conformance::register_cases();
  return RUN_ALL_TESTS();
}
