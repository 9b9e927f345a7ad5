#include "passes/order_nodes.h"

#include "ir/substitute.h"

namespace ingot {
namespace {

class Order {
 public:
  explicit Order(const Graph& graph) : graph_(graph), placed_(graph.nodes().size(), false) {}

  std::vector<size_t> run() {
    for (const Port& port : graph_.inputs()) place(index_of(port.value));
    for (const Port& port : graph_.outputs()) visit(index_of(port.value));
    for (size_t i = 0; i < placed_.size(); ++i)
      if (!placed_[i]) place(i);
    return std::move(order_);
  }

 private:
  static size_t index_of(Value v) { return static_cast<size_t>(v.node); }

  void place(size_t node) {
    placed_[node] = true;
    order_.push_back(node);
  }

  // With a stack of its own, since a chain of nodes may be longer than the call stack is deep.
  void visit(size_t root) {
    struct Step {
      size_t node;
      size_t next_operand;
    };
    std::vector<Step> path{{root, 0}};
    while (!path.empty()) {
      auto& [node, next] = path.back();
      const std::vector<Value>& operands = graph_.nodes()[node].operands;
      while (next < operands.size() && (operands[next].is_none() || placed_[index_of(operands[next])]))
        ++next;
      if (next < operands.size() && !placed_[node]) {
        path.push_back({index_of(operands[next++]), 0});
      } else {
        if (!placed_[node]) place(node);
        path.pop_back();
      }
    }
  }

  const Graph& graph_;
  std::vector<bool> placed_;
  std::vector<size_t> order_;
};

// As GraphBuilder::fresh_dim() makes them: a word, a dot, a number.
bool is_made_up(std::string_view symbol) {
  size_t dot = symbol.rfind('.');
  return dot != std::string_view::npos && dot + 1 < symbol.size() &&
         symbol.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
}

// New names for the made-up sizes of the inputs of a body, which come from the graph around it as it once
// was.
class Names {
 public:
  explicit Names(const Graph& body) {
    // Sizes that stand alone come first: the order inside an expression depends on the names.
    for (bool alone : {true, false})
      for (const Port& port : body.inputs()) collect(body.type(port.value), alone);
  }

  Type renamed(const Type& type) const {
    return substitute(type, [&](std::string_view name) -> std::optional<Dim> {
      auto found = new_.find(name);
      return found == new_.end() ? std::nullopt : std::optional(found->second);
    });
  }

 private:
  void collect(const Type& type, bool alone) {
    if (!type.is_tensor()) return collect(*type.inner, alone);
    if (!type.dims) return;
    for (const Dim& d : *type.dims) {
      if (alone && !d.symbol_name()) continue;
      d.visit_symbols([&](std::string_view name, int64_t low, int64_t high) {
        if (is_made_up(name) && !new_.contains(name))
          new_.emplace(name, Dim::symbol(fmt::format("size.{}", new_.size()), low, high));
      });
    }
  }

  std::map<std::string, Dim, std::less<>> new_;
};

Graph reorder(const Graph& graph, const Names* names) {
  GraphBuilder g(graph.name());
  for (const auto& [key, value] : graph.metadata()) g.set_metadata(key, value);
  std::vector<std::vector<Value>> results(graph.nodes().size());
  auto mapped = [&](Value v) {
    return v.is_none() ? v : results[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
  };
  for (size_t index : Order(graph).run()) {
    const Node& node = graph.nodes()[index];
    if (node.op == Op::Input) {
      results[index] = {
          g.input(node.as<InputAttrs>().name, names ? names->renamed(node.types[0]) : node.types[0])};
      continue;
    }
    std::vector<Value> operands;
    for (Value v : node.operands) operands.push_back(mapped(v));
    std::vector<GraphPtr> bodies;
    for (const GraphPtr& body : node.subgraphs) {
      Names inner(*body);
      bodies.push_back(std::make_shared<const Graph>(reorder(*body, &inner)));
    }
    g.set_origin(node.origin);
    results[index] =
        g.add(node.attrs, std::move(operands), std::move(bodies), static_cast<int>(node.types.size()));
  }
  for (const Port& port : graph.outputs()) g.output(port.name, mapped(port.value));
  return std::move(g).finish();
}

}  // namespace

Graph order_nodes(const Graph& graph) { return reorder(graph, nullptr); }

}  // namespace ingot
