#include "passes/merge_duplicates.h"

#include <unordered_map>

#include "ir/op_info.h"
#include "ir/print.h"
#include "passes/rewrite.h"

namespace ingot {
namespace {

constexpr size_t kLargestMergedConstant = 4096;

// Equal keys, equal results; empty where the node must stay.
std::string key_of(const Node& node, std::span<const Value> operands) {
  if (op_info(node.op).is(Random) || !node.subgraphs.empty()) return {};
  std::string key(to_string(node.op));
  if (node.op == Op::Constant) {
    const Tensor& t = node.as<ConstantAttrs>().value;
    if (t.bytes().size() > kLargestMergedConstant) return {};
  }
  for (Value v : operands) key += fmt::format(" {}.{}", v.node, v.output);
  return key + print_attrs(node.attrs) + fmt::format("/{}", node.types.size());
}

}  // namespace

Graph merge_duplicates(const Graph& graph) {
  // Each subgraph is a graph of its own, with its own values.
  std::map<const Graph*, std::unordered_map<std::string, std::vector<Value>>> seen;
  return rewrite(graph,
                 [&](Rewriter& r, const Node& node,
                     std::span<const Value> operands) -> std::optional<std::vector<Value>> {
                   std::string key = key_of(node, operands);
                   if (key.empty()) return std::nullopt;
                   auto& known = seen[&r.old()];
                   if (auto found = known.find(key); found != known.end()) return found->second;
                   auto results = r.g().add(node.attrs, std::vector<Value>(operands.begin(), operands.end()),
                                            {}, static_cast<int>(node.types.size()));
                   known.emplace(std::move(key), results);
                   return results;
                 });
}

}  // namespace ingot
