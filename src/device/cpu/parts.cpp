#include "device/cpu/parts.h"

#include <algorithm>
#include <set>

#include "ir/op_info.h"

namespace ingot::cpu {
namespace {

// Symbols whose sizes are known where a node runs.
class KnownSymbols {
 public:
  void add(const Type& type) {
    visit(type, [&](std::string_view name) { names_.emplace(name); });
  }

  bool all_known(const Type& type) const {
    if (!type.is_ranked() || type.dtype == DType::string) return false;
    bool known = true;
    visit(type, [&](std::string_view name) { known = known && names_.contains(name); });
    return known;
  }

 private:
  template <class F>
  static void visit(const Type& type, F f) {
    if (!type.is_ranked()) return;
    for (const Dim& d : *type.dims)
      d.visit_symbols([&](std::string_view name, int64_t, int64_t) { f(name); });
  }

  std::set<std::string, std::less<>> names_;
};

class Cut {
 public:
  explicit Cut(const Graph& graph)
      : graph_(graph), level_(graph.nodes().size(), 0), host_(graph.nodes().size()) {}

  Parts run() {
    classify();
    Parts out;
    const int levels = 1 + *std::ranges::max_element(level_);
    for (int level = 0; level < levels; ++level) {
      add_part(out, level);
      for (size_t n = 0; n < host_.size(); ++n)
        if (host_[n] && level_[n] == level) out.stages.push_back({.node = static_cast<int32_t>(n)});
    }
    return out;
  }

 private:
  bool is_source(size_t n) const { return op_info(graph_.nodes()[n].op).is(Source); }

  void classify() {
    KnownSymbols known;
    for (const Port& port : graph_.inputs()) known.add(graph_.type(port.value));
    for (size_t n = 0; n < host_.size(); ++n) {
      const Node& node = graph_.nodes()[n];
      if (is_source(n)) {
        host_[n] = node.op == Op::Input ? false : node.types[0].dtype == DType::string;
        continue;
      }
      host_[n] = op_info(node.op).is(Control) || reads_unknown(node) ||
                 !std::ranges::all_of(node.types, [&](const Type& t) { return known.all_known(t); });
      for (Value v : node.operands)
        if (!v.is_none()) {
          const auto from = static_cast<size_t>(v.node);
          level_[n] = std::max(level_[n], level_[from] + (host_[from] && !is_source(from) ? 1 : 0));
        }
      if (host_[n])
        for (const Type& type : node.types) known.add(type);
    }
  }

  bool reads_unknown(const Node& node) const {
    return std::ranges::any_of(node.operands, [&](Value v) {
      if (v.is_none()) return false;
      const Type& type = graph_.type(v);
      return !type.is_ranked() || type.dtype == DType::string;
    });
  }

  bool in_part(size_t n, int level) const { return !host_[n] && !is_source(n) && level_[n] == level; }

  // Values of a level that others read.
  std::vector<Value> exported(int level) const {
    std::set<Value> out;
    auto read = [&](Value v) {
      if (!v.is_none() && in_part(static_cast<size_t>(v.node), level)) out.insert(v);
    };
    for (size_t n = 0; n < host_.size(); ++n)
      if (!in_part(n, level)) std::ranges::for_each(graph_.nodes()[n].operands, read);
    for (const Port& port : graph_.outputs()) read(port.value);
    return {out.begin(), out.end()};
  }

  void add_part(Parts& out, int level) {
    std::vector<Value> outputs = exported(level);
    if (outputs.empty()) return;
    Part part;
    GraphBuilder g(graph_.name());
    std::vector<std::vector<Value>> values(host_.size());
    for (size_t n = 0; n < host_.size(); ++n)
      if (in_part(n, level)) values[n] = add_node(g, part, values, graph_.nodes()[n]);
    for (Value v : outputs)
      g.output(fmt::format("v{}.{}", v.node, v.output),
               values[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)]);
    part.outputs = std::move(outputs);
    part.graph = std::move(g).finish();
    out.stages.push_back({.part = static_cast<int32_t>(out.parts.size())});
    out.parts.push_back(std::move(part));
  }

  std::vector<Value> add_node(GraphBuilder& g, Part& part, std::vector<std::vector<Value>>& values,
                              const Node& node) {
    g.set_origin(node.origin);
    std::vector<Value> operands;
    for (Value v : node.operands) operands.push_back(v.is_none() ? v : import(g, part, values, v));
    std::vector<Value> outputs =
        g.add(node.attrs, operands, node.subgraphs, static_cast<int>(node.types.size()));
    // As proven for the whole graph, where more was known.
    for (size_t i = 0; i < outputs.size(); ++i) g.declare(outputs[i], node.types[i]);
    return outputs;
  }

  Value import(GraphBuilder& g, Part& part, std::vector<std::vector<Value>>& values, Value v) {
    const Node& node = graph_.node(v);
    std::vector<Value>& known = values[static_cast<size_t>(v.node)];
    if (known.empty()) known.resize(node.types.size());
    Value& mapped = known[static_cast<size_t>(v.output)];
    if (!mapped.is_none()) return mapped;
    if (node.op == Op::Constant) return mapped = g.constant(node.as<ConstantAttrs>());
    part.inputs.push_back(v);
    return mapped = g.input(fmt::format("v{}.{}", v.node, v.output), graph_.type(v));
  }

  const Graph& graph_;
  std::vector<int> level_;
  std::vector<bool> host_;
};

}  // namespace

Parts cut_graph(const Graph& graph) { return Cut(graph).run(); }

}  // namespace ingot::cpu
