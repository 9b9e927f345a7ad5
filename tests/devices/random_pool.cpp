#include "tests/devices/random_pool.h"

#include <algorithm>
#include <cmath>

#include "device/reference/evaluate.h"
#include "ir/small_constants.h"
#include "tests/devices/compare.h"

namespace ingot::devices {
namespace {

constexpr double kLargest = 8;  // values beyond this are scaled back

// Multiples of 1/8: sums and differences of them are exact.
Tensor coarse(const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) return tensor;
  std::vector<double> elements = elements_of(tensor);
  for (double& element : elements) element = std::round(element * 8) / 8;
  return tensor_of(tensor.dtype(), tensor.shape(), elements);
}

bool is_finite(const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) return true;
  return std::ranges::all_of(elements_of(tensor), [](double x) { return std::isfinite(x); });
}

DType draw_type(Random& random) {
  const double x = random.real(0, 1);
  return x < 0.8 ? DType::f32 : x < 0.9 ? DType::f16 : x < 0.95 ? DType::bf16 : DType::f64;
}

}  // namespace

RandomPool::RandomPool(uint64_t seed, const RandomLimits& limits)
    : random(seed), real(draw_type(random)), limits_(limits) {}

Dim RandomPool::symbol(const std::string& name) {
  sizes_.emplace(name, size());
  return Dim::symbol(name, 1);
}

int64_t RandomPool::size() {
  const int64_t round = int64_t{1} << random.between(0, 5), any = random.between(1, 40);
  return std::min(random.chance(0.4) ? round : any, limits_.size);
}

Value RandomPool::input(DType dtype, Dims dims, Range range) {
  inputs_.push_back({dtype, dims, range});
  const Value v = g.input(fmt::format("x{}", inputs_.size() - 1), Type::tensor(dtype, std::move(dims)));
  samples_[v] = input_content(inputs_.back(), sizes_);
  entries_.push_back({v, true});
  return v;
}

Datum RandomPool::input_content(const Input& input, const std::map<std::string, int64_t>& sizes) {
  Shape shape;
  for (const Dim& dim : input.dims)
    shape.push_back(dim.is_constant() ? dim.constant() : sizes.at(std::string(*dim.symbol_name())));
  return coarse(random_tensor(random, input.dtype, shape, input.range));
}

Value RandomPool::weight(const Shape& shape, int64_t terms) {
  const double bound = 1.5 / std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1)));
  return constant(real, shape, {-bound, bound});
}

Value RandomPool::constant(DType dtype, const Shape& shape, Range range) {
  return g.constant(random_tensor(random, dtype, shape, range));
}

Value RandomPool::ints(const std::vector<int64_t>& values) { return int_list(g, values); }

const Datum& RandomPool::sample(Value v) {
  if (auto found = samples_.find(v); found != samples_.end()) return found->second;
  const Node& node = g.node(v);
  std::vector<Datum> operands;
  for (Value operand : node.operands) operands.push_back(operand.is_none() ? Datum() : sample(operand));
  const std::vector<Datum> outputs = reference::evaluate_node(node, operands);
  for (size_t i = 0; i < outputs.size(); ++i) samples_[{v.node, static_cast<int32_t>(i)}] = outputs[i];
  return samples_.at(v);
}

void RandomPool::offer(Value v, bool exact) {
  const Tensor& content = sample(v).tensor();
  if (content.count() > limits_.elements || !is_finite(content) || content.rank() > 6) return;
  const double largest = is_floating(content.dtype()) ? largest_finite(content) : 0;
  if (largest > kLargest) {
    v = g.mul(v, scalar(g, g.dtype(v), 1 / std::exp2(std::ceil(std::log2(largest / 2)))));
    exact = false;
  }
  entries_.push_back({v, exact});
}

std::optional<RandomPool::Entry> RandomPool::pick(const Wanted& wanted) {
  std::vector<size_t> fitting;
  for (size_t i = 0; i < entries_.size(); ++i)
    if (wanted(entries_[i].value)) fitting.push_back(i);
  if (fitting.empty()) return std::nullopt;
  const auto count = static_cast<int64_t>(fitting.size());
  const int64_t recent = std::max<int64_t>(0, count - 1 - random.below(3));
  const size_t chosen = fitting[static_cast<size_t>(random.chance(0.6) ? recent : random.below(count))];
  ++entries_[chosen].readers;
  return entries_[chosen];
}

std::optional<RandomPool::Entry> RandomPool::pick_real(int64_t least_rank) {
  return pick([&](Value v) { return g.dtype(v) == real && g.rank(v) >= least_rank; });
}

std::optional<RandomPool::Entry> RandomPool::pick_exact(DType dtype) {
  std::vector<Value> exact;
  for (const Entry& entry : entries_)
    if (entry.exact && g.dtype(entry.value) == dtype) exact.push_back(entry.value);
  return pick([&](Value v) { return std::ranges::find(exact, v) != exact.end(); });
}

Shape RandomPool::shape(Value v) { return sample(v).tensor().shape(); }

bool RandomPool::is_known(Value v, int64_t axis) {
  return g.dims(v)[static_cast<size_t>(axis)].is_constant();
}

int64_t RandomPool::any_axis(Value v) { return random.below(g.rank(v)); }

std::optional<int64_t> RandomPool::known_axis(Value v) {
  std::vector<int64_t> known;
  for (int64_t axis = 0; axis < g.rank(v); ++axis)
    if (is_known(v, axis)) known.push_back(axis);
  if (known.empty()) return std::nullopt;
  return random.pick(known);
}

std::map<std::string, int64_t> RandomPool::draw_sizes() {
  std::map<std::string, int64_t> sizes = sizes_;
  for (auto& [name, size] : sizes) size = random.chance(0.2) ? 1 : this->size();
  return sizes;
}

// What nobody reads, at most six values, and sometimes one that others read.
std::vector<Value> RandomPool::results() {
  std::vector<Value> all;
  for (const Entry& entry : entries_)
    if (entry.readers == 0 || (&entry == &entries_.back()) || random.chance(0.08)) all.push_back(entry.value);
  if (all.size() > 6) all.erase(all.begin(), all.end() - 6);
  return all;
}

TestGraph RandomPool::finish() && {
  const std::vector<Value> outputs = results();
  for (size_t i = 0; i < outputs.size(); ++i) g.output(fmt::format("y{}", i), outputs[i]);
  TestGraph made{std::make_shared<const Graph>(std::move(g).finish()), {{}}};
  for (const Port& port : made.graph->inputs()) made.runs[0].push_back(samples_.at(port.value));
  for (int more = sizes_.empty() ? 0 : 2; more > 0; --more) {
    const auto sizes = draw_sizes();
    std::vector<Datum> contents;
    for (const Input& input : inputs_) contents.push_back(input_content(input, sizes));
    made.runs.push_back(std::move(contents));
  }
  if (!sizes_.empty()) made.runs.push_back(made.runs[0]);  // back to sizes met before
  return made;
}

}  // namespace ingot::devices
