#include "ir/common_type.h"
#include "ir/rule_helpers.h"
#include "ir/rules.h"

namespace ingot::rules {
namespace {

const Graph& body(const Inference& c, size_t i, size_t count) {
  if (c.subgraphs().size() != count)
    c.fail(-1, fmt::format("{} bodies", count), fmt::format("{}", c.subgraphs().size()));
  if (c.subgraphs()[i] == nullptr) c.fail(-1, "a body", "null");
  return *c.subgraphs()[i];
}

const Type& input_type(const Graph& body, size_t i) { return body.type(body.inputs()[i].value); }
const Type& output_type(const Graph& body, size_t i) { return body.type(body.outputs()[i].value); }

void require_inputs(const Inference& c, const Graph& body, size_t count) {
  if (body.inputs().size() != count)
    c.fail(-1, fmt::format("body '{}' of {} inputs", body.name(), count),
           fmt::format("{}", body.inputs().size()));
}

void require_outputs(const Inference& c, const Graph& body, size_t count) {
  if (body.outputs().size() != count)
    c.fail(-1, fmt::format("body '{}' of {} outputs", body.name(), count),
           fmt::format("{}", body.outputs().size()));
}

// Body input i receives values of type `given`.
void require_fit(const Inference& c, const Graph& body, size_t i, const Type& given) {
  if (!may_be(input_type(body, i), given))
    c.fail(-1,
           fmt::format("{} for input '{}' of body '{}'", to_string(input_type(body, i)),
                       body.inputs()[i].name, body.name()),
           to_string(given));
}

Dim fresh(const Inference& c, const Dim&, const Dim&) { return c.fresh("body"); }

Type merge(const Inference& c, const Graph& body, size_t output, const Type& a, const Type& b) {
  auto merged = common_type(a, b, [&c](const Dim& x, const Dim& y) { return fresh(c, x, y); });
  if (!merged)
    c.fail(-1,
           fmt::format("{} for output '{}' of body '{}'", to_string(a), body.outputs()[output].name,
                       body.name()),
           to_string(b));
  return *merged;
}

// Sizes of a body in terms of the graph around it. A symbol of the body is known outside when it is the size
// of an input that has one value for the whole node; all others are fresh outside, whatever their name.
class Outside {
 public:
  explicit Outside(const Inference& c) : c_(c) {}

  void bind(const Type& inside, const Type& outside) {
    if (!inside.is_ranked() || !outside.is_ranked() || inside.dims->size() != outside.dims->size()) return;
    for (size_t i = 0; i < inside.dims->size(); ++i)
      if (auto name = (*inside.dims)[i].symbol_name()) known_.emplace(*name, (*outside.dims)[i]);
  }

  Dim operator()(const Dim& dim) const {
    bool known = true;
    dim.visit_symbols(
        [&](std::string_view name, int64_t, int64_t) { known = known && known_.contains(name); });
    if (!known) return c_.fresh("body");
    return dim.substitute(
        [&](std::string_view name) -> std::optional<Dim> { return known_.find(name)->second; });
  }

  Type operator()(const Type& type) const {
    if (type.kind == Type::Kind::sequence) return Type::sequence((*this)(*type.inner));
    if (type.kind == Type::Kind::optional) return Type::optional((*this)(*type.inner));
    if (!type.dims) return type;
    Dims dims;
    for (const Dim& d : *type.dims) dims.push_back((*this)(d));
    return Type::tensor(type.dtype, std::move(dims));
  }

 private:
  const Inference& c_;
  std::map<std::string, Dim, std::less<>> known_;
};

// The type of a state with the sizes that no run changes; the others are numbers, which name nothing.
Type unchanged(Type before, const Type& merged) {
  if (!before.is_ranked() || !merged.is_ranked()) return Type::unranked(before.element_dtype());
  for (size_t i = 0; i < before.dims->size(); ++i)
    if ((*before.dims)[i] != (*merged.dims)[i]) (*before.dims)[i] = 0;
  return before;
}

// States and captures of a loop or scan: body inputs [first_input, ...) take operands [first_operand, ...),
// states first; body outputs from `first_output` on give the next states. Sets the first outputs of the node.
Outside check_states(Inference& c, const Graph& body, size_t states, size_t between, size_t first_input,
                     size_t first_operand, size_t first_output) {
  Outside outside(c);
  std::vector<Type> kept;
  for (size_t i = 0; i < states; ++i) {
    const Type& next = output_type(body, first_output + i);
    require_fit(c, body, first_input + i, c.type(first_operand + i));
    require_fit(c, body, first_input + i, next);
    kept.push_back(merge(c, body, first_output + i, input_type(body, first_input + i), next));
    outside.bind(unchanged(input_type(body, first_input + i), kept.back()), c.type(first_operand + i));
  }
  for (size_t i = states + between; first_operand + i < c.operand_count(); ++i) {
    require_fit(c, body, first_input + i, c.type(first_operand + i));
    outside.bind(input_type(body, first_input + i), c.type(first_operand + i));
  }
  for (size_t i = 0; i < states; ++i) c.set(i, outside(kept[i]));
  return outside;
}

// One value per run, stacked along a new axis of size `trips`.
Type stacked(const Inference& c, const Outside& outside, const Graph& body, size_t output, int64_t axis,
             const Dim& trips) {
  const Type& slice = output_type(body, output);
  if (!slice.is_tensor())
    c.fail(-1, fmt::format("a tensor for output '{}' of body '{}'", body.outputs()[output].name, body.name()),
           to_string(slice));
  if (!slice.dims) return slice;
  Dims dims = *outside(slice).dims;
  auto rank = static_cast<int64_t>(dims.size()) + 1;
  dims.insert(dims.begin() + c.axis(axis, rank, "output axis"), trips);
  return Type::tensor(slice.dtype, std::move(dims));
}

int64_t entry(const std::vector<int64_t>& list, size_t i) { return list.empty() ? 0 : list.at(i); }

void require_entries(const Inference& c, const std::vector<int64_t>& list, size_t count,
                     std::string_view what) {
  if (!list.empty() && list.size() != count)
    c.fail(-1, fmt::format("{} {} or none", count, what), fmt::format("{}", list.size()));
}

// A slice of scan operand `i` along its axis; `trips` takes the size of that axis.
Type slice_type(const Inference& c, size_t i, int64_t axis, std::optional<Dim>& trips) {
  if (!c.type(i).is_tensor()) c.fail(static_cast<int>(i), "a tensor to scan", to_string(c.type(i)));
  if (!c.is_ranked(i)) return c.type(i);
  Dims dims = c.dims(i);
  auto at = dims.begin() + c.axis(axis, c.rank(i), "input axis");
  if (trips && trips->is_constant() && at->is_constant() && *trips != *at)
    c.fail(static_cast<int>(i), fmt::format("{} slices", trips->constant()), to_string(c.type(i)));
  if (!trips || at->is_constant()) trips = *at;
  dims.erase(at);
  return Type::tensor(c.dtype(i), std::move(dims));
}

}  // namespace

void if_type(Inference& c) {
  require_one_element(c, 0);
  std::vector<Type> merged;
  for (size_t branch = 0; branch < 2; ++branch) {
    const Graph& g = body(c, branch, 2);
    require_inputs(c, g, c.operand_count() - 1);
    require_outputs(c, g, c.output_count());
    Outside outside(c);
    for (size_t i = 0; i < g.inputs().size(); ++i) {
      require_fit(c, g, i, c.type(i + 1));
      outside.bind(input_type(g, i), c.type(i + 1));
    }
    for (size_t i = 0; i < g.outputs().size(); ++i) {
      Type type = outside(output_type(g, i));
      if (branch == 0)
        merged.push_back(std::move(type));
      else
        merged[i] = merge(c, g, i, merged[i], type);
    }
  }
  for (size_t i = 0; i < merged.size(); ++i) c.set(i, std::move(merged[i]));
}

void loop_type(Inference& c) {
  const Graph& g = body(c, 0, 1);
  int64_t count = c.attrs<LoopAttrs>().states;
  if (count < 0 || count > static_cast<int64_t>(std::max<size_t>(c.operand_count(), 2)) - 2)
    c.fail(-1, "as many operands as states", fmt::format("{} states", count));
  auto states = static_cast<size_t>(count);
  require_one_element(c, 1);
  require_inputs(c, g, std::max<size_t>(c.operand_count(), 2));
  require_outputs(c, g, c.output_count() + 1);
  if (c.output_count() < states)
    c.fail(-1, fmt::format("at least {} outputs", states), fmt::format("{}", c.output_count()));
  require_fit(c, g, 0, Type::tensor(DType::i64, {}));
  require_fit(c, g, 1, Type::tensor(DType::boolean, {}));
  if (const Type& next = output_type(g, 0); !next.is_tensor() || next.dtype != DType::boolean)
    c.fail(-1, fmt::format("bool for output 0 of body '{}'", g.name()), to_string(next));
  Outside outside = check_states(c, g, states, 0, 2, 2, 1);
  for (size_t i = states; i < c.output_count(); ++i)
    c.set(i, stacked(c, outside, g, i + 1, 0, c.fresh("trips")));
}

void scan_type(Inference& c) {
  const Graph& g = body(c, 0, 1);
  const auto& a = c.attrs<ScanAttrs>();
  auto operands = static_cast<int64_t>(c.operand_count());
  if (a.states < 0 || a.inputs < 1 || a.states > operands || a.inputs > operands - a.states)
    c.fail(-1, "as many operands as states and inputs, at least one input",
           fmt::format("{} states, {} inputs, {} operands", a.states, a.inputs, operands));
  auto states = static_cast<size_t>(a.states), inputs = static_cast<size_t>(a.inputs);
  require_inputs(c, g, c.operand_count());
  require_outputs(c, g, c.output_count());
  if (c.output_count() < states)
    c.fail(-1, fmt::format("at least {} outputs", states), fmt::format("{}", c.output_count()));
  require_entries(c, a.input_axes, inputs, "input axes");
  require_entries(c, a.input_reversed, inputs, "input directions");
  require_entries(c, a.output_axes, c.output_count() - states, "output axes");
  require_entries(c, a.output_reversed, c.output_count() - states, "output directions");
  Outside outside = check_states(c, g, states, inputs, 0, 0, 0);
  std::optional<Dim> trips;
  for (size_t i = 0; i < inputs; ++i) {
    Type slice = slice_type(c, states + i, entry(a.input_axes, i), trips);
    require_fit(c, g, states + i, slice);
    outside.bind(input_type(g, states + i), slice);
  }
  if (!trips) trips = c.fresh("trips");
  for (size_t i = states; i < c.output_count(); ++i)
    c.set(i, stacked(c, outside, g, i, entry(a.output_axes, i - states), *trips));
}

}  // namespace ingot::rules
