#include <set>

#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/common_type.h"

namespace ingot {
namespace {

// Exporters guard steps by conditions on ranks and sizes, with branches that fit one outcome only.
std::optional<bool> known_condition(const OnnxNodeContext& c) {
  auto known = c.g().known_values(c.in(0));
  if (!known || known->size() != 1 || !known->front().is_constant()) return std::nullopt;
  return known->front().constant() != 0;
}

std::vector<Value> if_else(OnnxNodeContext& c) {
  const OnnxGraph &then_graph = c.graph_attr("then_branch"), &else_graph = c.graph_attr("else_branch");
  if (auto taken = known_condition(c)) return c.inlined(*taken ? then_graph : else_graph);
  auto captured = c.captures({&then_graph, &else_graph});
  GraphPtr then_branch = c.body(then_graph, {}, captured);
  GraphPtr else_branch = c.body(else_graph, {}, captured);
  return c.g().if_else(c.in(0), std::move(then_branch), std::move(else_branch), c.values_of(captured));
}

// The types of the values a body carries from run to run: wide enough for the first values and for whatever
// the body makes of them.
class StateTypes {
 public:
  // `first`: values of `g`.
  StateTypes(const OnnxNodeContext& c, GraphBuilder& g, std::span<const Value> first) : c_(c), g_(g) {
    for (Value v : first) types_.push_back(g.type(v));
  }

  const std::vector<Type>& types() const { return types_; }

  // Widens the types so that they hold the results of `body` from `first_output` on; false if they did
  // already.
  bool widen(const Graph& body, size_t first_output) {
    bool changed = false;
    if (body.outputs().size() < first_output + types_.size())
      c_.fail_invalid(fmt::format("a body of at least {} outputs", first_output + types_.size()),
                      fmt::format("{}", body.outputs().size()));
    for (size_t i = 0; i < types_.size(); ++i) {
      const Port& next = body.outputs()[first_output + i];
      auto wider =
          common_type(types_[i], body.type(next.value), [this](const Dim& a, const Dim&) { return join(a); });
      if (!wider)
        c_.fail_invalid(fmt::format("{} for output '{}' of the body", to_string(types_[i]), next.name),
                        to_string(body.type(next.value)));
      changed = changed || !(*wider == types_[i]);
      types_[i] = std::move(*wider);
    }
    return changed;
  }

 private:
  // A size that a run changes becomes a symbol of its own, once: that symbol then stands for every size.
  Dim join(const Dim& size) {
    if (auto name = size.symbol_name(); name && unknown_.contains(*name)) return size;
    Dim fresh = g_.fresh_dim("state");
    unknown_.emplace(*fresh.symbol_name());
    return fresh;
  }

  const OnnxNodeContext& c_;
  GraphBuilder& g_;
  std::vector<Type> types_;
  std::set<std::string, std::less<>> unknown_;
};

// Imports a body until the types of its states hold what it makes of them.
GraphPtr stable_body(StateTypes& states, size_t first_output,
                     const std::function<GraphPtr(const std::vector<Type>&)>& import) {
  for (;;) {
    GraphPtr body = import(states.types());
    if (!states.widen(*body, first_output)) return body;
  }
}

std::vector<Value> loop(OnnxNodeContext& c) {
  const OnnxGraph& graph = c.graph_attr("body");
  auto captured = c.captures({&graph});
  std::vector<Value> first;
  for (size_t i = 2; i < c.input_count(); ++i) first.push_back(c.in(i));
  StateTypes states(c, c.g(), first);
  GraphPtr body = stable_body(states, 1, [&](const std::vector<Type>& types) {
    std::vector<Type> inputs{Type::tensor(DType::i64, {}), Type::tensor(DType::boolean, {})};
    inputs.insert(inputs.end(), types.begin(), types.end());
    return c.body(graph, inputs, captured);
  });
  return c.g().loop(c.optional(0), c.optional(1), first, std::move(body), c.values_of(captured));
}

Type slice_type(const OnnxNodeContext& c, Type type, int64_t axis) {
  if (!type.is_ranked()) return type;
  auto rank = static_cast<int64_t>(type.dims->size());
  if (axis < -rank || axis >= rank)
    c.fail_invalid(fmt::format("scan axes in [{}, {}]", -rank, rank - 1), fmt::format("{}", axis));
  type.dims->erase(type.dims->begin() + (axis < 0 ? axis + rank : axis));
  return type;
}

GraphPtr scan_body(OnnxNodeContext& c, const OnnxGraph& graph, StateTypes& states,
                   const std::vector<Type>& slices, const std::vector<std::string>& captured) {
  return stable_body(states, 0, [&](const std::vector<Type>& types) {
    std::vector<Type> inputs = types;
    inputs.insert(inputs.end(), slices.begin(), slices.end());
    return c.body(graph, inputs, captured);
  });
}

size_t scan_input_count(const OnnxNodeContext& c, size_t available) {
  int64_t count = c.int_attr("num_scan_inputs");
  if (count < 1 || count > static_cast<int64_t>(available))
    c.fail_invalid(fmt::format("num_scan_inputs in [1, {}]", available), fmt::format("{}", count));
  return static_cast<size_t>(count);
}

void require_length(const OnnxNodeContext& c, std::string_view name, const std::vector<int64_t>& list,
                    size_t count) {
  if (!list.empty() && list.size() != count)
    c.fail_invalid(fmt::format("{} of {} entries", name, count), fmt::format("{}", list.size()));
}

std::vector<Value> scan9(OnnxNodeContext& c) {
  const OnnxGraph& graph = c.graph_attr("body");
  auto captured = c.captures({&graph});
  std::vector<Value> all = c.inputs();
  size_t count = scan_input_count(c, all.size());
  std::vector<Value> first(all.begin(), all.end() - static_cast<int64_t>(count));
  std::vector<Value> scanned(all.end() - static_cast<int64_t>(count), all.end());
  ScanAttrs attrs{.input_axes = c.ints_attr("scan_input_axes"),
                  .input_reversed = c.ints_attr("scan_input_directions"),
                  .output_axes = c.ints_attr("scan_output_axes"),
                  .output_reversed = c.ints_attr("scan_output_directions")};
  require_length(c, "scan_input_axes", attrs.input_axes, count);
  std::vector<Type> slices;
  for (size_t i = 0; i < count; ++i)
    slices.push_back(
        slice_type(c, c.g().type(scanned[i]), attrs.input_axes.empty() ? 0 : attrs.input_axes[i]));
  StateTypes states(c, c.g(), first);
  GraphPtr body = scan_body(c, graph, states, slices, captured);
  return c.g().scan(first, scanned, std::move(body), c.values_of(captured), std::move(attrs));
}

// Opset 8: all inputs have a batch axis before the others, and each batch entry is scanned on its own. That
// is a scan over the batch of a scan over the sequence.
std::vector<Value> scan8(OnnxNodeContext& c) {
  const OnnxGraph& graph = c.graph_attr("body");
  if (c.has(0)) c.fail_unsupported("sequences of full length", "an input 'sequence_lens'");
  std::vector<Value> all = c.inputs();
  if (all.size() < 2) c.fail_invalid("at least 2 inputs", fmt::format("{}", all.size()));
  all.erase(all.begin());
  size_t count = scan_input_count(c, all.size()), states = all.size() - count;
  auto captured = c.captures({&graph});
  std::vector<Value> outer_captures = c.values_of(captured);
  ScanAttrs attrs;
  attrs.input_reversed = c.ints_attr("directions");

  GraphBuilder batch(std::string(graph.name));
  std::vector<Value> entries;
  for (size_t i = 0; i < all.size(); ++i)
    entries.push_back(batch.input(fmt::format("{}", i), slice_type(c, c.g().type(all[i]), 0)));
  std::vector<Value> inner_captures;
  for (size_t i = 0; i < captured.size(); ++i)
    inner_captures.push_back(batch.input("outer." + captured[i], c.g().type(outer_captures[i])));
  std::vector<Value> first(entries.begin(), entries.begin() + static_cast<int64_t>(states));
  std::vector<Value> scanned(entries.begin() + static_cast<int64_t>(states), entries.end());
  std::vector<Type> slices;
  for (Value v : scanned) slices.push_back(slice_type(c, batch.type(v), 0));
  StateTypes types(c, batch, first);
  GraphPtr body = scan_body(c, graph, types, slices, captured);
  std::vector<Value> results = batch.scan(first, scanned, std::move(body), inner_captures, std::move(attrs));
  for (size_t i = 0; i < results.size(); ++i) batch.output(fmt::format("{}", i), results[i]);
  return c.g().scan({}, all, std::make_shared<const Graph>(std::move(batch).finish()), outer_captures);
}

std::vector<Value> scan(OnnxNodeContext& c) { return c.opset() < 9 ? scan8(c) : scan9(c); }

Type element_of(const OnnxNodeContext& c, Value v) {
  const Type& type = c.g().type(v);
  return type.kind == Type::Kind::sequence ? *type.inner : type;
}

// The element types that a SequenceMap body gives for elements of the inputs.
std::vector<DType> mapped_types(OnnxNodeContext& c, const OnnxGraph& graph,
                                const std::vector<std::string>& captured) {
  std::vector<Type> elements;
  for (Value v : c.inputs()) elements.push_back(element_of(c, v));
  GraphPtr body = c.body(graph, elements, captured);
  std::vector<DType> types;
  for (const Port& p : body->outputs()) types.push_back(body->type(p.value).element_dtype());
  return types;
}

// A loop over the positions of the first sequence. Its states are the results so far; the mapped inputs are
// captured.
std::vector<Value> sequence_map(OnnxNodeContext& c) {
  const OnnxGraph& graph = c.graph_attr("body");
  auto captured = c.captures({&graph});
  std::vector<Value> inputs = c.inputs(), first;
  for (DType type : mapped_types(c, graph, captured))
    first.push_back(c.g().sequence_empty({.element = type}));
  StateTypes states(c, c.g(), first);
  GraphPtr body = stable_body(states, 1, [&](const std::vector<Type>& types) {
    std::vector<Value> so_far;
    Value condition;
    auto enter = [&](GraphBuilder& g) {
      Value i = g.input("position", Type::tensor(DType::i64, {}));
      condition = g.input("condition", Type::tensor(DType::boolean, {}));
      so_far.clear();
      for (size_t k = 0; k < types.size(); ++k)
        so_far.push_back(g.input(fmt::format("results{}", k), types[k]));
      std::vector<Value> elements;
      for (size_t k = 0; k < inputs.size(); ++k) {
        Value v = g.input(fmt::format("input{}", k), c.g().type(inputs[k]));
        elements.push_back(g.type(v).kind == Type::Kind::sequence ? g.sequence_at(v, i) : v);
      }
      return elements;
    };
    auto leave = [&](GraphBuilder& g, const std::vector<Value>& results) {
      g.output("condition", condition);
      for (size_t k = 0; k < results.size(); ++k)
        g.output(fmt::format("results{}", k), g.sequence_insert(so_far[k], results[k], {}));
    };
    return c.body(graph, enter, leave, captured);
  });
  std::vector<Value> outer = c.values_of(captured);
  outer.insert(outer.begin(), inputs.begin(), inputs.end());
  return c.g().loop(c.g().sequence_length(c.in(0)), {}, first, std::move(body), outer);
}

}  // namespace

void add_onnx_control_flow(OnnxOpTable& t) {
  t[{"", "If"}] = {.import = if_else};
  t[{"", "Loop"}] = {.import = loop};
  t[{"", "Scan"}] = {.import = scan, .first_opset = 8, .limits = "opset 8: no sequence_lens"};
  t[{"", "SequenceMap"}] = {.import = sequence_map, .first_opset = 17};
}

}  // namespace ingot
