#include "tests/devices/shrink.h"

#include <map>
#include <set>

#include "device/reference/evaluate.h"
#include "ingot/error.h"

namespace ingot::devices {
namespace {

// Results of every node in one run.
using Contents = std::vector<std::vector<Datum>>;

Contents evaluate_all(const Graph& graph, const std::vector<Datum>& inputs) {
  Contents contents(graph.nodes().size());
  for (size_t i = 0; i < inputs.size(); ++i)
    contents[static_cast<size_t>(graph.inputs()[i].value.node)] = {inputs[i]};
  for (size_t i = 0; i < contents.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op == Op::Input) continue;
    std::vector<Datum> operands;
    for (Value v : node.operands)
      operands.push_back(
          v.is_none() ? Datum() : contents[static_cast<size_t>(v.node)].at(static_cast<size_t>(v.output)));
    contents[i] = reference::evaluate_node(node, operands);
  }
  return contents;
}

// Copies what some values need. The results of nodes in `cuts` become inputs.
class Extraction {
 public:
  Extraction(const TestGraph& from, const std::set<int32_t>& cuts) : from_(from), cuts_(cuts) {
    for (const auto& run : from.runs) contents_.push_back(evaluate_all(*from.graph, run));
    to_.runs.resize(from.runs.size());
  }

  TestGraph take(const std::vector<Value>& outputs) && {
    for (size_t i = 0; i < outputs.size(); ++i) g_.output(fmt::format("y{}", i), copy(outputs[i]));
    to_.graph = std::make_shared<const Graph>(std::move(g_).finish());
    return std::move(to_);
  }

 private:
  Value copy(Value v) {
    if (v.is_none()) return v;
    if (auto found = copies_.find(v); found != copies_.end()) return found->second;
    const Node& node = from_.graph->node(v);
    if (node.op == Op::Input || cuts_.contains(v.node)) return copies_[v] = input(v);
    std::vector<Value> operands;
    for (Value operand : node.operands) operands.push_back(copy(operand));
    const auto results = g_.add(node.attrs, operands, node.subgraphs, static_cast<int>(node.types.size()));
    for (size_t i = 0; i < results.size(); ++i) copies_[{v.node, static_cast<int32_t>(i)}] = results[i];
    return copies_.at(v);
  }

  // With known sizes where one run says them all.
  Value input(Value v) {
    auto content = [&](size_t run) {
      return contents_[run][static_cast<size_t>(v.node)].at(static_cast<size_t>(v.output));
    };
    for (size_t run = 0; run < to_.runs.size(); ++run) to_.runs[run].push_back(content(run));
    Type type = from_.graph->type(v);
    if (to_.runs.size() == 1 && content(0).is_tensor()) type = Type::of(content(0).tensor());
    return g_.input(fmt::format("x{}", inputs_++), std::move(type));
  }

  const TestGraph& from_;
  const std::set<int32_t>& cuts_;
  std::vector<Contents> contents_;
  GraphBuilder g_;
  TestGraph to_;
  std::map<Value, Value> copies_;
  int inputs_ = 0;
};

std::vector<Value> output_values(const Graph& graph) {
  std::vector<Value> values;
  for (const Port& port : graph.outputs()) values.push_back(port.value);
  return values;
}

// Replaces the graph by a part of it if that fails too. A part that cannot be built is no answer.
bool try_part(TestGraph& graph, const std::vector<Value>& outputs, const std::set<int32_t>& cuts,
              const Fails& fails) {
  try {
    TestGraph part = Extraction(graph, cuts).take(outputs);
    if (!fails(part)) return false;
    graph = std::move(part);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void keep_one_run(TestGraph& graph, const Fails& fails) {
  for (const auto& run : graph.runs)
    if (TestGraph single{graph.graph, {run}}; fails(single)) {
      graph = std::move(single);
      try_part(graph, output_values(*graph.graph), {}, fails);  // with known sizes
      return;
    }
}

// The first value of all that is wrong, by itself.
void keep_first_wrong_value(TestGraph& graph, const Fails& fails) {
  for (size_t i = 0; i < graph.graph->nodes().size(); ++i) {
    const Node& node = graph.graph->nodes()[i];
    if (node.op == Op::Input || node.op == Op::Constant) continue;
    for (size_t output = 0; output < node.types.size(); ++output)
      if (try_part(graph, {{static_cast<int32_t>(i), static_cast<int32_t>(output)}}, {}, fails)) return;
  }
}

void drop_outputs(TestGraph& graph, const Fails& fails) {
  for (size_t i = graph.graph->outputs().size(); i-- > 0;) {
    std::vector<Value> fewer = output_values(*graph.graph);
    if (fewer.size() < 2) return;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    try_part(graph, fewer, {}, fails);
  }
}

// One cut at a time, the latest first, since that drops most.
bool cut_once(TestGraph& graph, const Fails& fails) {
  for (size_t i = graph.graph->nodes().size(); i-- > 0;) {
    const Op op = graph.graph->nodes()[i].op;
    if (op == Op::Input || op == Op::Constant) continue;
    if (try_part(graph, output_values(*graph.graph), {static_cast<int32_t>(i)}, fails)) return true;
  }
  return false;
}

}  // namespace

TestGraph shrink(TestGraph graph, const Fails& fails) {
  keep_one_run(graph, fails);
  keep_first_wrong_value(graph, fails);
  drop_outputs(graph, fails);
  while (cut_once(graph, fails)) {
  }
  return graph;
}

}  // namespace ingot::devices
