#include <set>

#include "ingot/error.h"
#include "ingot/graph.h"
#include "ir/inference.h"
#include "ir/op_info.h"
#include "ir/shape_values.h"
#include "ir/verify.h"

namespace ingot {

struct GraphBuilder::State {
  Graph graph;
  std::string origin;
  // Parallel to the nodes: what is known of the content of output 0.
  std::vector<std::optional<std::vector<Dim>>> known;
  std::set<std::string> symbols;
  int next_symbol = 0;

  void collect_symbols(const Type& type) {
    if (!type.is_tensor()) return collect_symbols(*type.inner);
    if (!type.dims) return;
    for (const Dim& d : *type.dims)
      d.visit_symbols([&](std::string_view name, int64_t, int64_t) { symbols.emplace(name); });
  }
};

GraphBuilder::GraphBuilder(std::string name) : state_(std::make_unique<State>()) {
  state_->graph.name_ = std::move(name);
}

GraphBuilder::~GraphBuilder() = default;

Value GraphBuilder::input(std::string name, Type type) {
  Graph& g = state_->graph;
  Value v{static_cast<int32_t>(g.nodes_.size()), 0};
  state_->collect_symbols(type);
  g.nodes_.push_back({Op::Input, {}, InputAttrs{name}, {}, {std::move(type)}, {}});
  state_->known.emplace_back();
  g.inputs_.push_back({std::move(name), v});
  return v;
}

void GraphBuilder::output(std::string name, Value value) {
  (void)type(value);
  state_->graph.outputs_.push_back({std::move(name), value});
}

void GraphBuilder::set_metadata(std::string key, std::string value) {
  state_->graph.metadata_[std::move(key)] = std::move(value);
}

void GraphBuilder::set_origin(std::string origin) { state_->origin = std::move(origin); }

std::vector<Value> GraphBuilder::add(Attrs attrs, std::vector<Value> operands,
                                     std::vector<GraphPtr> subgraphs, int output_count) {
  Graph& g = state_->graph;
  const OpInfo& info = op_info(attrs.op());
  while (!operands.empty() && operands.back().is_none()) operands.pop_back();
  std::vector<Inference::Operand> seen;
  for (Value v : operands) {
    if (v.is_none()) {
      seen.emplace_back();
    } else {
      seen.push_back({&type(v), [this, v] { return known_values(v); }});
    }
  }
  int outputs = info.outputs >= 0 ? info.outputs : std::max(output_count, 1);
  Inference inference(attrs, subgraphs, std::move(seen), static_cast<size_t>(outputs),
                      [this](std::string_view hint) { return fresh_dim(hint); });
  std::vector<Type> types = inference.run();  // before its arguments move into the node
  Node node{info.op,          std::move(operands), std::move(attrs), std::move(subgraphs),
            std::move(types), state_->origin};

  std::vector<Type> operand_types;
  std::vector<std::optional<std::vector<Dim>>> operand_values;
  for (Value v : node.operands) {
    operand_types.push_back(v.is_none() ? Type{} : type(v));
    operand_values.push_back(v.is_none() ? std::nullopt : known_values(v));
  }
  state_->known.push_back(shape_values(node, operand_types, operand_values));
  for (const Type& t : node.types) state_->collect_symbols(t);

  auto index = static_cast<int32_t>(g.nodes_.size());
  std::vector<Value> results;
  for (int32_t i = 0; i < outputs; ++i) results.push_back({index, i});
  g.nodes_.push_back(std::move(node));
  return results;
}

std::vector<Value> GraphBuilder::split(Value x, Value sizes, int parts, SplitAttrs attrs) {
  return add(attrs, {x, sizes}, {}, parts);
}

const Type& GraphBuilder::type(Value v) const {
  const auto& nodes = state_->graph.nodes_;
  if (v.node < 0 || static_cast<size_t>(v.node) >= nodes.size() || v.output < 0 ||
      static_cast<size_t>(v.output) >= nodes[static_cast<size_t>(v.node)].types.size())
    throw Error(
        {.code = ErrorCode::invalid_argument,
         .object = "graph builder",
         .expected = "a value of this graph",
         .observed = v.is_none() ? "an absent value" : fmt::format("node {}, output {}", v.node, v.output)});
  return state_->graph.type(v);
}

void GraphBuilder::declare(Value v, Type declared) {
  const Type& inferred = type(v);
  if (!may_be(declared, inferred))
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "declared type of node",
                 .name = fmt::format("{} ({})", v.node, to_string(node(v).op)),
                 .expected = to_string(inferred),
                 .observed = to_string(declared)});
  state_->collect_symbols(declared);
  state_->graph.nodes_[static_cast<size_t>(v.node)].types[static_cast<size_t>(v.output)] =
      std::move(declared);
}

const Node& GraphBuilder::node(Value v) const {
  (void)type(v);
  return state_->graph.node(v);
}

const Dims& GraphBuilder::dims(Value v) const {
  const Type& t = type(v);
  if (!t.is_ranked())
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "graph builder",
                 .expected = "a tensor of known rank",
                 .observed = to_string(t)});
  return *t.dims;
}

std::optional<Tensor> GraphBuilder::constant_value(Value v) const {
  if (v.is_none()) return std::nullopt;
  const Node& node = state_->graph.node(v);
  if (node.op == Op::Constant) return node.as<ConstantAttrs>().value.aligned();
  return std::nullopt;
}

std::optional<std::vector<Dim>> GraphBuilder::known_values(Value v) const {
  if (v.is_none() || v.output != 0) return std::nullopt;
  return state_->known.at(static_cast<size_t>(v.node));
}

Dim GraphBuilder::fresh_dim(std::string_view hint) {
  std::string name;
  do {
    name = fmt::format("{}.{}", hint, state_->next_symbol++);
  } while (!state_->symbols.insert(name).second);
  return Dim::symbol(name);
}

Graph GraphBuilder::finish() && {
  Graph graph = std::move(*this).finish_derived();
  verify(graph);
  return graph;
}

Graph GraphBuilder::finish_derived() && {
  Graph graph = std::move(state_->graph);
  state_ = std::make_unique<State>();
  return graph;
}

namespace {

void append(std::vector<Value>& operands, Value v) { operands.push_back(v); }
void append(std::vector<Value>& operands, const std::vector<Value>& vs) {
  operands.insert(operands.end(), vs.begin(), vs.end());
}

template <int N>
typename OpResult<N>::type result(std::vector<Value> values) {
  if constexpr (N == 1) {
    return values[0];
  } else if constexpr (N < 0) {
    return values;
  } else {
    std::array<Value, static_cast<size_t>(N)> out;
    std::copy(values.begin(), values.end(), out.begin());
    return out;
  }
}

}  // namespace

// The builder methods of ops.def. Each operand becomes a pair (type, name), and a row of pairs is walked
// twice: once for the parameters, once to gather them. The _A and _B forms take turns, since a macro does not
// expand inside itself.
#define FINISH(...) FINISH_(__VA_ARGS__)
#define FINISH_(...) __VA_ARGS__##_END
#define PARAMETERS(pairs) FINISH(PARAMETER_A pairs)
#define PARAMETER_A(type, name) type name, PARAMETER_B
#define PARAMETER_B(type, name) type name, PARAMETER_A
#define PARAMETER_A_END
#define PARAMETER_B_END
#define GATHER(pairs) FINISH(GATHER_A pairs)
#define GATHER_A(type, name) \
  append(gathered, name);    \
  GATHER_B
#define GATHER_B(type, name) \
  append(gathered, name);    \
  GATHER_A
#define GATHER_A_END
#define GATHER_B_END

#define IN(name, types) (Value, name)
#define OPT(name, types) (Value, name)
#define VAR(name, types) (const std::vector<Value>&, name)
#define SEQ(name) (Value, name)
#define ANY(name) (Value, name)
#define MANY(name) (const std::vector<Value>&, name)
#define MANY_OUT -1
#define OP_CONTROL(...)
#define OP(Name, text, operands, outputs, attributes, rule, traits)                             \
  typename OpResult<outputs>::type GraphBuilder::text(PARAMETERS(operands) Name##Attrs attrs) { \
    std::vector<Value> gathered;                                                                \
    GATHER(operands)                                                                            \
    return result<outputs>(add(std::move(attrs), std::move(gathered)));                         \
  }
#include "ingot/ops.def"

}  // namespace ingot
