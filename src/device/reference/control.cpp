#include "device/reference/evaluate.h"
#include "device/reference/kernel.h"
#include "device/reference/slices.h"

namespace ingot::reference {
namespace {

// A loop that runs longer is taken for one that never ends.
constexpr int64_t kMaxTrips = int64_t{1} << 27;

bool condition_value(const KernelContext& c, const Datum& datum) {
  const Tensor& t = datum.tensor();
  if (t.dtype() != DType::boolean || t.count() != 1)
    c.fail("a condition of one bool", to_string(Type::of(t)));
  return t.data<bool>()[0];
}

std::vector<Datum> operands_from(const KernelContext& c, size_t first) {
  std::vector<Datum> out;
  for (size_t i = first; i < c.operand_count(); ++i) out.push_back(c.has(i) ? c.datum(i) : Datum());
  return out;
}

void if_else(KernelContext& c) {
  bool taken = condition_value(c, c.datum(0));
  auto results = c.run_body(taken ? 0 : 1, operands_from(c, 1));
  for (size_t i = 0; i < results.size(); ++i) c.set(i, std::move(results[i]));
}

// Where a loop never ran: unknown sizes count as 0.
Tensor empty_stack(const Type& type, int64_t axis) {
  Shape shape;
  if (type.dims)
    for (const Dim& d : *type.dims) shape.push_back(d.value().value_or(0));
  auto rank = static_cast<int64_t>(shape.size());
  shape.insert(shape.begin() + std::min(axis < 0 ? axis + rank + 1 : axis, rank), 0);
  return Tensor::allocate(type.dtype, std::move(shape));
}

// The slices that the runs of a body gave for one output, put together. `type`: of a slice.
Tensor stack_runs(const KernelContext& c, Sequence slices, const Type& type, int64_t axis, bool reversed) {
  if (slices.empty()) return empty_stack(type, axis);
  if (reversed) std::ranges::reverse(slices);
  return stack(c, slices, axis_of(c, axis, slices[0].rank() + 1));
}

int64_t entry(const std::vector<int64_t>& list, size_t i) { return list.empty() ? 0 : list.at(i); }

// Gives the node its last states, then the runs of the body outputs from `first_stack` on.
void set_results(KernelContext& c, std::span<const Datum> states, std::vector<Sequence>& runs,
                 size_t first_stack, const std::vector<int64_t>& axes, const std::vector<int64_t>& reversed) {
  const Graph& body = *c.node().subgraphs[0];
  for (size_t i = 0; i < states.size(); ++i) c.set(i, states[i]);
  for (size_t i = 0; i < runs.size(); ++i)
    c.set(states.size() + i,
          stack_runs(c, std::move(runs[i]), body.type(body.outputs()[first_stack + i].value), entry(axes, i),
                     entry(reversed, i) != 0));
}

int64_t trip_limit(const KernelContext& c) {
  if (!c.has(0)) return INT64_MAX;
  if (c.in(0).count() != 1) c.fail("a trip count of one element", to_string(Type::of(c.in(0))));
  return c.in(0).data<int64_t>()[0];
}

void loop(KernelContext& c) {
  const Graph& body = *c.node().subgraphs[0];
  auto states = static_cast<size_t>(c.attrs<LoopAttrs>().states);
  int64_t limit = trip_limit(c);
  bool go_on = !c.has(1) || condition_value(c, c.datum(1));
  std::vector<Datum> inputs = operands_from(c, 2);
  inputs.insert(inputs.begin(), 2, Datum());
  std::vector<Sequence> runs(body.outputs().size() - 1 - states);
  Tensor yes = Tensor::allocate(DType::boolean, {});
  yes.mutable_data<bool>()[0] = true;
  for (int64_t i = 0; i < limit && go_on; ++i) {
    if (i == kMaxTrips) c.fail(fmt::format("an end within {} runs of the body", kMaxTrips), "none");
    inputs[0] = Tensor::of<int64_t>({}, {i});
    inputs[1] = yes;
    auto results = c.run_body(0, inputs);
    go_on = condition_value(c, results[0]);
    std::move(results.begin() + 1, results.begin() + 1 + static_cast<int64_t>(states), inputs.begin() + 2);
    for (size_t k = 0; k < runs.size(); ++k) runs[k].push_back(results[1 + states + k].tensor());
  }
  set_results(c, std::span(inputs).subspan(2, states), runs, states + 1, {}, {});
}

// Position `i` of a tensor along an axis, which goes away.
Tensor position(const Tensor& x, int64_t axis, int64_t i) {
  Tensor kept = slice(x, axis, i, 1);
  Shape shape = kept.shape();
  shape.erase(shape.begin() + axis);
  return kept.reshaped(std::move(shape));
}

void scan(KernelContext& c) {
  const auto& a = c.attrs<ScanAttrs>();
  const Graph& body = *c.node().subgraphs[0];
  auto states = static_cast<size_t>(a.states), count = static_cast<size_t>(a.inputs);
  std::vector<int64_t> axes;
  for (size_t k = 0; k < count; ++k)
    axes.push_back(axis_of(c, entry(a.input_axes, k), c.in(states + k).rank()));
  auto trips_of = [&](size_t k) { return c.in(states + k).shape()[static_cast<size_t>(axes[k])]; };
  int64_t trips = trips_of(0);
  for (size_t k = 1; k < count; ++k)
    if (trips_of(k) != trips)
      c.fail(fmt::format("{} slices of every input", trips), fmt::format("{}", trips_of(k)));
  std::vector<Datum> inputs = operands_from(c, 0);
  std::vector<Sequence> runs(body.outputs().size() - states);
  for (int64_t i = 0; i < trips; ++i) {
    for (size_t k = 0; k < count; ++k)
      inputs[states + k] =
          position(c.in(states + k), axes[k], entry(a.input_reversed, k) != 0 ? trips - 1 - i : i);
    auto results = c.run_body(0, inputs);
    std::move(results.begin(), results.begin() + static_cast<int64_t>(states), inputs.begin());
    for (size_t k = 0; k < runs.size(); ++k) runs[k].push_back(results[states + k].tensor());
  }
  set_results(c, std::span(inputs).first(states), runs, states, a.output_axes, a.output_reversed);
}

}  // namespace

void add_control_kernels(KernelTable& t) {
  t[Op::If] = if_else;
  t[Op::Loop] = loop;
  t[Op::Scan] = scan;
}

}  // namespace ingot::reference
