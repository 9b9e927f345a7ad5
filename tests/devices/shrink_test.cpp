#include "tests/devices/shrink.h"

#include <gtest/gtest.h>

#include "device/reference/reference_device.h"
#include "tests/devices/check_graph.h"
#include "tests/devices/random_graph.h"

// A device with a known fault must be caught, and the graph that shows it must come out small.
namespace ingot::devices {
namespace {

// Takes tanh for relu.
class FaultyDevice : public Device {
 public:
  std::string_view name() const override { return "faulty"; }
  std::shared_ptr<const Program> compile(std::shared_ptr<const Graph> graph,
                                         const CompileOptions& options) const override {
    GraphBuilder g;
    std::map<Value, Value> copies;
    for (size_t i = 0; i < graph->nodes().size(); ++i) copy(g, *graph, static_cast<int32_t>(i), copies);
    for (const Port& port : graph->outputs()) g.output(port.name, copies.at(port.value));
    return reference::device().compile(std::make_shared<const Graph>(std::move(g).finish()), options);
  }

 private:
  static void copy(GraphBuilder& g, const Graph& graph, int32_t index, std::map<Value, Value>& copies) {
    const Node& node = graph.node({index, 0});
    if (node.op == Op::Input) {
      copies[{index, 0}] = g.input(node.as<InputAttrs>().name, node.types[0]);
      return;
    }
    std::vector<Value> operands;
    for (Value v : node.operands) operands.push_back(v.is_none() ? v : copies.at(v));
    const Attrs attrs = node.op == Op::Tanh ? Attrs(ReluAttrs()) : node.attrs;
    const auto results = g.add(attrs, operands, node.subgraphs, static_cast<int>(node.types.size()));
    for (size_t i = 0; i < results.size(); ++i) copies[{index, static_cast<int32_t>(i)}] = results[i];
  }
};

bool has(const Graph& graph, Op op) {
  for (const Node& node : graph.nodes())
    if (node.op == op) return true;
  return false;
}

TEST(Shrink, LeavesTheFaultyNodeAlone) {
  const FaultyDevice device;
  const Target target{"faulty", &device, {}};
  const Fails fails = [&](const TestGraph& graph) { return !check_graph(graph, target).empty(); };
  int caught = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const TestGraph graph = random_graph(seed);
    if (!has(*graph.graph, Op::Tanh)) {
      EXPECT_FALSE(fails(graph)) << seed;
      continue;
    }
    if (!fails(graph)) continue;  // tanh without a reader
    ++caught;
    const TestGraph smallest = shrink(graph, fails);
    EXPECT_LE(smallest.graph->nodes().size(), 2u) << describe(smallest);
    EXPECT_TRUE(has(*smallest.graph, Op::Tanh)) << describe(smallest);
  }
  EXPECT_GE(caught, 5);
}

}  // namespace
}  // namespace ingot::devices
