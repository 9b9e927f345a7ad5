#include "passes/remove_dead_code.h"

#include "passes/rewrite.h"

namespace ingot {
namespace {

std::vector<bool> live_nodes(const Graph& graph) {
  std::vector<bool> live(graph.nodes().size(), false);
  for (const Port& port : graph.outputs()) live[static_cast<size_t>(port.value.node)] = true;
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    if (!live[i]) continue;
    for (Value v : graph.nodes()[i].operands)
      if (!v.is_none()) live[static_cast<size_t>(v.node)] = true;
  }
  return live;
}

}  // namespace

Graph remove_dead_code(const Graph& graph) {
  std::map<const Graph*, std::vector<bool>> live;
  return rewrite(
      graph, [&](Rewriter& r, const Node& node, std::span<const Value>) -> std::optional<std::vector<Value>> {
        auto [it, added] = live.try_emplace(&r.old());
        if (added) it->second = live_nodes(r.old());
        auto index = static_cast<size_t>(&node - r.old().nodes().data());
        if (it->second[index]) return std::nullopt;
        return std::vector<Value>(node.types.size());  // nothing reads these
      });
}

}  // namespace ingot
