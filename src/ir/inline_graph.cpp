#include "ir/inline_graph.h"

#include "ir/bind_symbols.h"

namespace ingot {

std::vector<Value> inline_graph(GraphBuilder& g, const Graph& graph, std::span<const Value> inputs) {
  require_input_count(graph, inputs.size());
  std::vector<std::vector<Value>> results(graph.nodes().size());
  for (size_t i = 0; i < inputs.size(); ++i)
    results[static_cast<size_t>(graph.inputs()[i].value.node)] = {inputs[i]};
  auto mapped = [&](Value v) {
    return v.is_none() ? v : results[static_cast<size_t>(v.node)].at(static_cast<size_t>(v.output));
  };
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op == Op::Input) continue;
    std::vector<Value> operands;
    for (Value v : node.operands) operands.push_back(mapped(v));
    results[i] = g.add(node.attrs, std::move(operands), node.subgraphs, static_cast<int>(node.types.size()));
  }
  std::vector<Value> outputs;
  for (const Port& port : graph.outputs()) outputs.push_back(mapped(port.value));
  return outputs;
}

}  // namespace ingot
