#include "ir/verify.h"

#include <set>

#include "ingot/error.h"
#include "ir/inference.h"
#include "ir/shape_values.h"

namespace ingot {
namespace {

constexpr int kMaxDepth = 64;

class Verifier {
 public:
  Verifier(const Graph& graph, int depth) : graph_(graph), depth_(depth), known_(graph.nodes().size()) {}

  void run() {
    if (depth_ > kMaxDepth) fail("subgraphs nested at most 64 deep", fmt::format("depth {}", depth_));
    for (index_ = 0; index_ < graph_.nodes().size(); ++index_) check_node(graph_.nodes()[index_]);
    check_ports(graph_.inputs(), "input");
    check_ports(graph_.outputs(), "output");
  }

 private:
  void check_node(const Node& node) {
    for (Value v : node.operands)
      if (!v.is_none()) check_value(v, index_);
    for (const GraphPtr& g : node.subgraphs) {
      if (g == nullptr) fail("a subgraph", "null");
      Verifier(*g, depth_ + 1).run();
    }
    if (node.op == Op::Input) {
      if (node.types.size() != 1) fail("one type", fmt::format("{}", node.types.size()));
      return;
    }
    check_types(node);
  }

  void check_types(const Node& node) {
    std::vector<Inference::Operand> operands;
    std::vector<Type> types;
    std::vector<std::optional<std::vector<Dim>>> known;
    for (Value v : node.operands) {
      if (v.is_none()) {
        operands.emplace_back();
      } else {
        operands.push_back({&graph_.type(v), [this, v] { return known_of(v); }});
      }
      types.push_back(v.is_none() ? Type{} : graph_.type(v));
      known.push_back(v.is_none() ? std::nullopt : known_of(v));
    }
    int fresh = 0;
    Inference inference(node.attrs, node.subgraphs, std::move(operands), node.types.size(),
                        [&](std::string_view) { return Dim::symbol(fmt::format("?{}", fresh++)); });
    std::vector<Type> inferred = inference.run();
    for (size_t i = 0; i < inferred.size(); ++i)
      if (!may_be(node.types[i], inferred[i]))
        fail(fmt::format("output {} of {}", i, to_string(inferred[i])), to_string(node.types[i]));
    known_[index_] = shape_values(node, types, known);
  }

  std::optional<std::vector<Dim>> known_of(Value v) const {
    return v.output == 0 ? known_[static_cast<size_t>(v.node)] : std::nullopt;
  }

  void check_value(Value v, size_t before) const {
    bool exists = v.node >= 0 && static_cast<size_t>(v.node) < before && v.output >= 0 &&
                  static_cast<size_t>(v.output) < graph_.nodes()[static_cast<size_t>(v.node)].types.size();
    if (!exists)
      fail("operands that are outputs of earlier nodes", fmt::format("node {}, output {}", v.node, v.output));
  }

  void check_ports(const std::vector<Port>& ports, std::string_view kind) {
    std::set<std::string_view> names;
    for (const Port& p : ports) {
      check_value(p.value, graph_.nodes().size());
      if (!names.insert(p.name).second)
        fail(fmt::format("{} names that differ", kind), "'" + p.name + "' twice");
    }
  }

  [[noreturn]] void fail(std::string expected, std::string observed) const {
    std::string where = graph_.name();
    if (index_ < graph_.nodes().size()) {
      const Node& node = graph_.nodes()[index_];
      where += fmt::format(": node {} ({}{}{})", index_, to_string(node.op),
                           node.origin.empty() ? "" : ", from ", node.origin);
    }
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "graph",
                 .name = std::move(where),
                 .expected = std::move(expected),
                 .observed = std::move(observed)});
  }

  const Graph& graph_;
  int depth_;
  size_t index_ = 0;
  std::vector<std::optional<std::vector<Dim>>> known_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph, 0).run(); }

}  // namespace ingot
