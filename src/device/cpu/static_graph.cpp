#include "device/cpu/static_graph.h"

#include "device/cpu/quantised.h"
#include "device/reference/evaluate.h"
#include "ingot/error.h"
#include "ir/decompose.h"
#include "ir/op_info.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kMaxFolded = int64_t{1} << 20;  // elements of a constant made here
constexpr int64_t kMaxWeights = int64_t{1} << 26;
constexpr int64_t kFewElements = 16;
constexpr int kMaxRounds = 8;  // decompositions within decompositions

// Builds the nodes of one graph anew.
class Rebuild {
 public:
  Rebuild(const Graph& from, GraphBuilder& g, const KeepComposite* keep)
      : from_(from), g_(g), keep_(keep), values_(from.nodes().size()) {}

  // From now on also quantised weights become real numbers, but for those that are read as integers.
  void fold_weights() {
    read_.assign(from_.nodes().size(), false);
    for (const Port& port : from_.outputs()) read_[static_cast<size_t>(port.value.node)] = true;
    for (size_t n = read_.size(); n-- > 0;) {
      if (!read_[n]) continue;
      for (Value v : operands_read(from_, from_.nodes()[n]))
        if (!v.is_none()) read_[static_cast<size_t>(v.node)] = true;
    }
  }

  void add_inputs(std::span<const Shape> shapes, std::span<const std::optional<Tensor>> given) {
    for (size_t i = 0; i < from_.inputs().size(); ++i) {
      const Port& port = from_.inputs()[i];
      Type type = from_.type(port.value);
      if (!shapes.empty()) type = Type::tensor(type.dtype, Dims(shapes[i].begin(), shapes[i].end()));
      values_[static_cast<size_t>(port.value.node)] = {g_.input(port.name, std::move(type))};
      if (!given.empty() && given[i])
        values_[static_cast<size_t>(port.value.node)] = {g_.constant(*given[i])};
    }
  }

  void add_nodes() {
    const std::vector<bool> needed = find_needed();
    for (size_t i = 0; i < from_.nodes().size(); ++i)
      if (needed[i] && from_.nodes()[i].op != Op::Input) values_[i] = add(from_.nodes()[i]);
  }

  void add_outputs() {
    for (const Port& port : from_.outputs()) g_.output(port.name, mapped(port.value));
  }

 private:
  std::vector<bool> find_needed() const {
    std::vector<bool> needed(from_.nodes().size(), false);
    for (const Port& port : from_.outputs()) needed[static_cast<size_t>(port.value.node)] = true;
    for (size_t i = needed.size(); i-- > 0;)
      if (needed[i])
        for (Value v : from_.nodes()[i].operands)
          if (!v.is_none()) needed[static_cast<size_t>(v.node)] = true;
    return needed;
  }

  Value mapped(Value v) const {
    return v.is_none() ? v : values_[static_cast<size_t>(v.node)].at(static_cast<size_t>(v.output));
  }

  std::vector<Value> add(const Node& node) {
    g_.set_origin(node.origin);
    std::vector<Value> operands;
    for (Value v : node.operands) operands.push_back(mapped(v));
    if (std::optional<std::vector<Value>> folded = fold(node, operands)) return *folded;
    if (keep_ && op_info(node.op).is(Composite) && !(*keep_)(from_, node)) {
      return find_decomposition(node.op)(g_, node, operands);
    }
    std::vector<Value> outputs =
        g_.add(node.attrs, operands, node.subgraphs, static_cast<int>(node.types.size()));
    for (Value& v : outputs) v = known_constant(v);
    return outputs;
  }

  // Shapes and what is computed from them.
  Value known_constant(Value v) {
    const Type& type = g_.type(v);
    if (!type.is_tensor() || type.dtype != DType::i64 || !is_static(type) || type.dims->size() > 1) return v;
    std::optional<std::vector<Dim>> known = g_.known_values(v);
    if (!known) return v;
    std::vector<int64_t> numbers;
    for (const Dim& d : *known) {
      if (!d.is_constant()) return v;
      numbers.push_back(d.constant());
    }
    const Shape shape = static_shape(type);
    if (element_count(shape) != static_cast<int64_t>(numbers.size())) return v;
    return g_.constant(Tensor::of<int64_t>(shape, numbers));
  }

  std::optional<std::vector<Value>> fold(const Node& node, const std::vector<Value>& operands) {
    const OpInfo& info = op_info(node.op);
    if (info.is(Random) || info.is(Control) || node.op == Op::Constant || operands.empty())
      return std::nullopt;
    const bool weights = node.op == Op::Dequantize && is_weights(from_.type(node.operands[0]));
    if (weights && (read_.empty() || !read_[static_cast<size_t>(&node - from_.nodes().data())]))
      return std::nullopt;
    int64_t total = 0;
    for (const Type& type : node.types) {
      if (!type.is_tensor()) return std::nullopt;
      if (is_static(type)) total += element_count(static_shape(type));
    }
    std::vector<Datum> data;
    for (Value v : operands) {
      std::optional<Tensor> constant = v.is_none() ? std::nullopt : g_.constant_value(v);
      if (!v.is_none() && !constant) return std::nullopt;
      if (constant) total += constant->count();
      data.emplace_back(v.is_none() ? Datum() : Datum(constant->aligned()));
    }
    if (total > (weights ? kMaxWeights : kMaxFolded)) return std::nullopt;
    std::vector<Value> outputs;
    for (Datum& datum : reference::evaluate_node(node, data)) outputs.push_back(g_.constant(datum.tensor()));
    return outputs;
  }

  static bool is_weights(const Type& type) {
    return is_static(type) && bit_width(type.dtype) <= 8 && element_count(static_shape(type)) > kFewElements;
  }

  const Graph& from_;
  GraphBuilder& g_;
  const KeepComposite* keep_;
  std::vector<std::vector<Value>> values_;
  std::vector<bool> read_;  // by node, where weights are folded
};

bool dequantises(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.op == Op::Dequantize; });
}

}  // namespace

bool is_static(const Type& type) {
  return type.is_ranked() && std::ranges::all_of(*type.dims, &Dim::is_constant);
}

Shape static_shape(const Type& type) {
  Shape shape;
  for (const Dim& d : *type.dims) shape.push_back(d.constant());
  return shape;
}

namespace {

struct RebuildOptions {
  std::span<const Shape> shapes = {};
  std::span<const std::optional<Tensor>> values = {};
  const KeepComposite* keep = nullptr;
  bool fold_weights = false;
};

Graph rebuild(const Graph& from, const RebuildOptions& options) {
  GraphBuilder g(from.name());
  Rebuild pass(from, g, options.keep);
  if (options.fold_weights) pass.fold_weights();
  pass.add_inputs(options.shapes, options.values);
  pass.add_nodes();
  pass.add_outputs();
  return std::move(g).finish_derived();
}

bool has_composites(const Graph& graph, const KeepComposite& keep) {
  return std::ranges::any_of(
      graph.nodes(), [&](const Node& node) { return op_info(node.op).is(Composite) && !keep(graph, node); });
}

// Composites within composites too. What they are made of may fold in turn.
Graph decompose(Graph graph, const KeepComposite& keep) {
  bool found = false;
  for (int round = 0; round < kMaxRounds && has_composites(graph, keep); ++round) {
    graph = rebuild(graph, {.keep = &keep});
    found = true;
  }
  return found ? rebuild(graph, {}) : graph;
}

}  // namespace

Graph decompose_ahead(const Graph& graph, const std::function<bool(const Node& node)>& never_kept) {
  return decompose(graph, [&](const Graph&, const Node& node) { return !never_kept(node); });
}

Graph make_static(const Graph& graph, std::span<const Shape> input_shapes,
                  std::span<const std::optional<Tensor>> input_values, const KeepComposite& keep) {
  Graph out = decompose(rebuild(graph, {.shapes = input_shapes, .values = input_values}), keep);
  return dequantises(out) ? rebuild(out, {.fold_weights = true}) : out;
}

}  // namespace ingot::cpu
