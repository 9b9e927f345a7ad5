#include "ir/replace_constants.h"

namespace ingot {
namespace {

Graph replaced(const Graph& graph, const ConstantSource& source, bool is_main);

Attrs attributes(const Node& node, int32_t index, const ConstantSource& source) {
  if (node.op != Op::Constant) return node.attrs;
  std::optional<Tensor> value = source(index, node.as<ConstantAttrs>().value);
  return value ? Attrs(ConstantAttrs{std::move(*value)}) : node.attrs;
}

void add(GraphBuilder& g, const Node& node, int32_t index, const ConstantSource& source) {
  g.set_origin(node.origin);
  std::vector<GraphPtr> bodies;
  for (const GraphPtr& body : node.subgraphs)
    bodies.push_back(std::make_shared<const Graph>(replaced(*body, source, false)));
  const std::vector<Value> results = g.add(attributes(node, index, source), node.operands, std::move(bodies),
                                           static_cast<int>(node.types.size()));
  for (size_t i = 0; i < results.size(); ++i) g.declare(results[i], node.types[i]);
}

Graph replaced(const Graph& graph, const ConstantSource& source, bool is_main) {
  GraphBuilder g(graph.name());
  for (const auto& [key, value] : graph.metadata()) g.set_metadata(key, value);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op == Op::Input)
      g.input(node.as<InputAttrs>().name, node.types[0]);
    else
      add(g, node, is_main ? static_cast<int32_t>(i) : -1, source);
  }
  for (const Port& port : graph.outputs()) g.output(port.name, port.value);
  return std::move(g).finish();
}

}  // namespace

Graph replace_constants(const Graph& graph, const ConstantSource& source) {
  return replaced(graph, source, true);
}

}  // namespace ingot
