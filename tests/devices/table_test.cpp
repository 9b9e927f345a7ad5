#include "tests/devices/table.h"

#include <gtest/gtest.h>

#include <set>

#include "device/reference/reference_device.h"
#include "ingot/error.h"
#include "ir/op_info.h"
#include "ir/print.h"
#include "tests/devices/run.h"
#include "tests/devices/targets.h"

// Every case of the table on every device against the reference device: one GoogleTest suite a device, one
// GoogleTest case each.
namespace ingot::devices {
namespace {

struct Sourced {
  TableCase test;
  Source source;

  std::string name() const { return fmt::format("{}, {}", test.name, source_name(source)); }
  TestGraph make(bool magnitudes) const {
    GraphMaker maker(seed_of(name()), source, magnitudes);
    const std::vector<Value> outputs = test.build(maker);
    return std::move(maker).finish(outputs);
  }
};

std::vector<Datum> reference_results(const TestGraph& graph) {
  return run(*reference::device().compile(graph.graph, {})->start(), *graph.graph, graph.runs[0]);
}

// The same sums over absolute values, where a case is measured by them.
std::vector<Datum> magnitudes(const Sourced& sourced) {
  if (sourced.test.closeness != Closeness::sums) return {};
  return reference_results(sourced.make(true));
}

std::string difference(const Sourced& sourced, const TestGraph& graph, const std::vector<Datum>& got) {
  const std::vector<Datum> want = reference_results(graph), sums = magnitudes(sourced);
  for (size_t i = 0; i < want.size(); ++i) {
    const DType dtype = want[i].is_tensor() ? want[i].tensor().dtype() : DType::f32;
    const std::string d = first_difference(want[i], got[i], allowance(sourced.test.closeness, dtype),
                                           sums.empty() ? Datum() : sums[i]);
    if (!d.empty()) return fmt::format("output y{}: {}", i, d);
  }
  return {};
}

// Empty on success, else what went wrong. A second run must repeat the first.
std::string check(const Sourced& sourced, const Target& target) {
  const TestGraph graph = sourced.make(false);
  std::string problem;
  try {
    const auto execution = target.device->compile(graph.graph, target.options)->start();
    const std::vector<Datum> got = run(*execution, *graph.graph, graph.runs[0]);
    problem = difference(sourced, graph, got);
    const std::vector<Datum> again = run(*execution, *graph.graph, graph.runs[0]);
    for (size_t i = 0; problem.empty() && i < got.size(); ++i)
      if (!identical(got[i], again[i])) problem = fmt::format("output y{} of a second run differs", i);
  } catch (const std::exception& e) {
    problem = e.what();
  }
  if (problem.empty()) return {};
  return fmt::format("{}\nseed {:#x}\n{}", problem, seed_of(sourced.name()),
                     print(*graph.graph, {.largest_constant = 64}));
}

class DeviceCase : public ::testing::Test {
 public:
  DeviceCase(const Sourced& sourced, const Target& target) : sourced_(sourced), target_(target) {}
  void TestBody() override {
    if (const std::string problem = check(sourced_, target_); !problem.empty()) ADD_FAILURE() << problem;
  }

 private:
  const Sourced& sourced_;
  const Target& target_;
};

std::vector<Sourced> all_cases() {
  std::vector<Sourced> all;
  std::set<std::string> names;
  for (const TableCase& test : make_table())
    for (Source source : test.sources) {
      Sourced sourced{test, source};
      if (names.insert(sourced.name()).second) all.push_back(std::move(sourced));
    }
  return all;
}

void collect_ops(const Graph& graph, std::set<Op>& ops) {
  for (const Node& node : graph.nodes()) ops.insert(node.op);
}

class TableCoverage : public ::testing::Test {
 public:
  explicit TableCoverage(const std::vector<Sourced>& cases) : cases_(cases) {}
  void TestBody() override {
    std::set<Op> ops;
    for (const Sourced& sourced : cases_) collect_ops(*sourced.make(false).graph, ops);
    for (const OpInfo& op : all_ops()) EXPECT_TRUE(ops.contains(op.op)) << "no case has " << op.name;
  }

 private:
  const std::vector<Sourced>& cases_;
};

bool multiplies_bytes(const Sourced& sourced) {
  std::set<Op> ops;
  collect_ops(*sourced.make(false).graph, ops);
  if (ops.contains(Op::MatMulInteger)) return true;
  return ops.contains(Op::Dequantize) && (ops.contains(Op::Conv) || ops.contains(Op::MatMul));
}

void register_cases() {
  static const std::vector<Sourced> cases = all_cases();
  static const std::vector<Target> all_targets = targets_at_every_level();
  ::testing::RegisterTest("DeviceTable", "HasEveryOp", nullptr, nullptr, __FILE__, __LINE__,
                          []() -> ::testing::Test* { return new TableCoverage(cases); });
  for (const Target& target : all_targets)
    for (const Sourced& sourced : cases) {
      if (seed_of(sourced.name() + target.name) % target.share != 0) continue;
      if (target.only_bytes && !multiplies_bytes(sourced)) continue;
      ::testing::RegisterTest(("DeviceTable_" + target.name).c_str(), sourced.name().c_str(), nullptr,
                              nullptr, __FILE__, __LINE__,
                              [&]() -> ::testing::Test* { return new DeviceCase(sourced, target); });
    }
}

}  // namespace
}  // namespace ingot::devices

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ingot::devices::register_cases();
  return RUN_ALL_TESTS();
}
