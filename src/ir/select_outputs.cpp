#include "ir/select_outputs.h"

namespace ingot {
namespace {

std::vector<bool> find_needed(const Graph& graph, std::span<const size_t> outputs) {
  std::vector<bool> needed(graph.nodes().size(), false);
  for (const size_t i : outputs) needed[static_cast<size_t>(graph.outputs()[i].value.node)] = true;
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    if (!needed[n]) continue;
    for (const Value v : graph.nodes()[n].operands)
      if (!v.is_none()) needed[static_cast<size_t>(v.node)] = true;
  }
  return needed;
}

// Adds a node with operands of the new graph; types are those of before.
std::vector<Value> add(GraphBuilder& g, const Node& node, std::vector<Value> operands) {
  if (node.op == Op::Input) return {g.input(node.as<InputAttrs>().name, node.types[0])};
  g.set_origin(node.origin);
  std::vector<Value> values =
      g.add(node.attrs, std::move(operands), node.subgraphs, static_cast<int>(node.types.size()));
  for (size_t i = 0; i < values.size(); ++i) g.declare(values[i], node.types[i]);
  return values;
}

}  // namespace

Graph select_outputs(const Graph& graph, std::span<const size_t> outputs,
                     const std::map<std::string, std::string>& metadata) {
  const std::vector<bool> needed = find_needed(graph, outputs);
  GraphBuilder g(graph.name());
  for (const auto& [key, value] : metadata) g.set_metadata(key, value);
  std::vector<std::vector<Value>> values(graph.nodes().size());
  auto mapped = [&](Value v) {
    return v.is_none() ? v : values[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
  };
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (!needed[n] && node.op != Op::Input) continue;
    std::vector<Value> operands;
    for (const Value v : node.operands) operands.push_back(mapped(v));
    values[n] = add(g, node, std::move(operands));
  }
  for (const size_t i : outputs) g.output(graph.outputs()[i].name, mapped(graph.outputs()[i].value));
  return std::move(g).finish();
}

}  // namespace ingot
