#include "passes/rewrite.h"

namespace ingot {
namespace {

class Walk {
 public:
  Walk(const Graph& old, const RewriteRule& rule)
      : old_(old), rule_(rule), g_(old.name()), rewriter_(old, g_, map_) {}

  Graph run() {
    for (const auto& [key, value] : old_.metadata()) g_.set_metadata(key, value);
    for (const Node& node : old_.nodes()) map_.push_back(rewrite_node(node));
    for (const Port& port : old_.outputs()) g_.output(port.name, rewriter_.mapped(port.value));
    return std::move(g_).finish();
  }

 private:
  std::vector<Value> rewrite_node(const Node& node) {
    if (node.op == Op::Input) return {g_.input(node.as<InputAttrs>().name, node.types[0])};
    std::vector<Value> operands;
    // An operand may be none in the new graph only where the whole node is dead.
    for (Value v : node.operands) operands.push_back(v.is_none() ? v : rewriter_.mapped(v));
    g_.set_origin(node.origin);
    if (auto replaced = rule_(rewriter_, node, operands)) return *replaced;
    std::vector<GraphPtr> subgraphs;
    for (const GraphPtr& s : node.subgraphs)
      subgraphs.push_back(std::make_shared<const Graph>(rewrite(*s, rule_)));
    return g_.add(node.attrs, std::move(operands), std::move(subgraphs), static_cast<int>(node.types.size()));
  }

  const Graph& old_;
  const RewriteRule& rule_;
  GraphBuilder g_;
  Rewriter::Map map_;
  Rewriter rewriter_;
};

}  // namespace

Graph rewrite(const Graph& graph, const RewriteRule& rule) { return Walk(graph, rule).run(); }

}  // namespace ingot
