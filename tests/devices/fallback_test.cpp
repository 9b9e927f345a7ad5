#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "ir/op_info.h"
#include "tests/devices/run.h"
#include "tests/devices/table.h"
#include "tests/devices/targets.h"

// Which ops a device leaves to the reference device, in their common form: the first cases of the table that
// have the op and no other. fallbacks_<device>.txt says which are expected, and nothing else may.
namespace ingot::devices {
namespace {

constexpr size_t kCasesOfAnOp = 3;

// The op of a graph that has but one besides its sources.
std::optional<Op> only_op(const Graph& graph) {
  std::optional<Op> found;
  for (const Node& node : graph.nodes()) {
    if (op_info(node.op).is(ingot::Source)) continue;
    if (found) return std::nullopt;
    found = node.op;
  }
  return found;
}

std::map<Op, std::vector<TestGraph>> first_cases() {
  std::map<Op, std::vector<TestGraph>> cases;
  for (const TableCase& test : make_table()) {
    GraphMaker maker(seed_of(test.name), Source::plain, false);
    const std::vector<Value> outputs = test.build(maker);
    TestGraph graph = std::move(maker).finish(outputs);
    const std::optional<Op> op = only_op(*graph.graph);
    if (op && cases[*op].size() < kCasesOfAnOp) cases[*op].push_back(std::move(graph));
  }
  return cases;
}

bool falls_back(const TestGraph& graph, const Target& target) {
  const auto program = target.device->compile(graph.graph, target.options);
  run(*program->start(), *graph.graph, graph.runs[0]);
  return program->stats().reference_nodes > 0;
}

std::set<std::string> expected_fallbacks(const std::string& device) {
  std::set<std::string> names;
  std::ifstream file(INGOT_TEST_DIR "/fallbacks_" + device + ".txt");
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') names.insert(line);
  return names;
}

TEST(Fallbacks, AreThoseExpected) {
  const auto cases = first_cases();
  for (const Target& target : targets()) {
    std::set<std::string> found;
    for (const auto& [op, graphs] : cases)
      if (std::ranges::any_of(graphs, [&](const TestGraph& g) { return falls_back(g, target); }))
        found.insert(std::string(to_string(op)));
    EXPECT_EQ(fmt::format("{}", fmt::join(found, "\n")),
              fmt::format("{}", fmt::join(expected_fallbacks(target.name), "\n")));
  }
}

}  // namespace
}  // namespace ingot::devices
