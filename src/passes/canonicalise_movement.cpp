#include <numeric>

#include "passes/canonicalise_rules.h"

namespace ingot {
namespace {

bool all_are(const std::optional<std::vector<Dim>>& values, const Dim& wanted) {
  return values && std::ranges::all_of(*values, [&](const Dim& d) { return d == wanted; });
}

std::vector<int64_t> full_permutation(const TransposeAttrs& attrs, int64_t rank) {
  if (!attrs.permutation.empty()) {
    std::vector<int64_t> out = attrs.permutation;
    for (int64_t& axis : out)
      if (axis < 0) axis += rank;
    return out;
  }
  std::vector<int64_t> out(static_cast<size_t>(rank));
  std::iota(out.rbegin(), out.rend(), 0);
  return out;
}

Rewritten simplify_transpose(Rewriter& r, const Node& node, Operands in) {
  if (!r.g().is_ranked(in[0])) return std::nullopt;
  auto outer = full_permutation(node.as<TransposeAttrs>(), r.g().rank(in[0]));
  if (std::ranges::is_sorted(outer)) return same(in[0]);
  if (!r.is(in[0], Op::Transpose)) return std::nullopt;
  const Node& first = r.producer(in[0]);
  auto inner = full_permutation(first.as<TransposeAttrs>(), r.g().rank(in[0]));
  std::vector<int64_t> both;
  for (int64_t axis : outer) both.push_back(inner[static_cast<size_t>(axis)]);
  Value source = first.operands[0];
  if (std::ranges::is_sorted(both)) return same(source);
  return same(r.g().transpose(source, {.permutation = both}));
}

template <class A>
Attrs with_kept_dims(const Attrs& attrs) {
  A out = attrs.as<A>();
  out.keep_dims = true;
  return out;
}

// The same reduction, keeping the axes it reduces; nothing for other ops.
std::optional<Attrs> keep_reduced(const Attrs& attrs) {
  switch (attrs.op()) {
    case Op::ReduceSum: return with_kept_dims<ReduceSumAttrs>(attrs);
    case Op::ReduceMean: return with_kept_dims<ReduceMeanAttrs>(attrs);
    case Op::ReduceProd: return with_kept_dims<ReduceProdAttrs>(attrs);
    case Op::ReduceMax: return with_kept_dims<ReduceMaxAttrs>(attrs);
    case Op::ReduceMin: return with_kept_dims<ReduceMinAttrs>(attrs);
    default: return std::nullopt;
  }
}

// Reshape, squeeze and unsqueeze keep the order of elements: whatever chain of them leads from one shape back
// to the same shape does nothing.
std::optional<Value> same_elements_before(Rewriter& r, Value v) {
  Value source = v;
  while (r.is(source, Op::Reshape) || r.is(source, Op::Squeeze) || r.is(source, Op::Unsqueeze)) {
    source = r.producer(source).operands[0];
    if (same_type(r.g(), source, v)) return source;
  }
  return std::nullopt;
}

std::vector<Value> operands_of(Rewriter& r, Value v) { return r.producer(v).operands; }

// A reduction whose axes a reshape brings back as ones could have kept them.
std::optional<Value> reduction_that_keeps(Rewriter& r, Value v) {
  GraphBuilder& g = r.g();
  Value reduced = operands_of(r, v)[0];
  auto keeping = keep_reduced(r.producer(reduced).attrs);
  if (!keeping || !g.is_ranked(v)) return std::nullopt;
  Value kept = g.add(*keeping, operands_of(r, reduced))[0];
  return same_type(g, kept, v) ? std::optional(kept) : std::nullopt;
}

// PyTorch's exporter swaps the last two axes of [.., a, b] as of a batch of matrices: reshape to [-1, a, b],
// transpose, reshape to [.., b, a].
std::optional<Value> batched_transpose(Rewriter& r, Value v) {
  GraphBuilder& g = r.g();
  Value swapped = operands_of(r, v)[0];
  if (!r.is(swapped, Op::Transpose) || !g.is_ranked(v) || !g.is_ranked(swapped) || g.rank(swapped) != 3)
    return std::nullopt;
  auto order = full_permutation(r.producer(swapped).as<TransposeAttrs>(), 3);
  Value flat = operands_of(r, swapped)[0];
  if (order != std::vector<int64_t>{0, 2, 1} || !r.is(flat, Op::Reshape)) return std::nullopt;
  Value source = operands_of(r, flat)[0];
  if (!g.is_ranked(source) || g.rank(source) != g.rank(v) || g.rank(v) < 3) return std::nullopt;
  const Dims &x = g.dims(source), &y = g.dims(v), &matrices = g.dims(flat);
  size_t n = x.size();
  bool fits = std::equal(x.begin(), x.end() - 2, y.begin()) && x[n - 2] == y[n - 1] && x[n - 1] == y[n - 2] &&
              matrices[1] == x[n - 2] && matrices[2] == x[n - 1];
  if (!fits) return std::nullopt;
  std::vector<int64_t> permutation(n);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[n - 2], permutation[n - 1]);
  return g.transpose(source, {.permutation = permutation});
}

// Exporters write a softmax over the last axis as one over the rows of a matrix.
std::optional<Value> softmax_of_rows(Rewriter& r, Value v) {
  GraphBuilder& g = r.g();
  Value rows = operands_of(r, v)[0];
  if (!r.is(rows, Op::Softmax) || !r.is(operands_of(r, rows)[0], Op::Reshape)) return std::nullopt;
  Value source = operands_of(r, operands_of(r, rows)[0])[0];
  if (!same_type(g, source, v) || g.rank(v) == 0 || g.rank(rows) == 0) return std::nullopt;
  int64_t axis = r.producer(rows).as<SoftmaxAttrs>().axis;
  bool last = axis == -1 || axis == g.rank(rows) - 1;
  if (!last || g.dims(rows).back() != g.dims(v).back()) return std::nullopt;
  return g.softmax(source, {.axis = g.rank(v) - 1});
}

std::optional<Value> regrouped(Rewriter& r, Value v) {
  if (auto source = same_elements_before(r, v)) return source;
  if (auto kept = reduction_that_keeps(r, v)) return kept;
  if (auto softmax = softmax_of_rows(r, v)) return softmax;
  return batched_transpose(r, v);
}

Rewritten simplify_regrouping(Rewriter& r, const Node& node, Operands in) {
  Value kept = r.g().add(node.attrs, std::vector<Value>(in.begin(), in.end()))[0];
  return same(regrouped(r, kept).value_or(kept));
}

// A second reshape that names every size makes the first one needless.
Rewritten simplify_reshape(Rewriter& r, const Node& node, Operands in) {
  GraphBuilder& g = r.g();
  Value source = in[0];
  auto sizes = g.known_values(in[1]);
  bool copies = !sizes || std::ranges::any_of(*sizes, [](const Dim& d) { return d == Dim(0); });
  if (copies) return simplify_regrouping(r, node, in);
  while (r.is(source, Op::Reshape) || r.is(source, Op::Squeeze) || r.is(source, Op::Unsqueeze))
    source = r.producer(source).operands[0];
  // A size that turns out to be 0 at run time means 0, as it did before the merge.
  ReshapeAttrs attrs{.zero_is_zero = source != in[0] || node.as<ReshapeAttrs>().zero_is_zero};
  if (std::ranges::all_of(*sizes, &Dim::is_constant))
    attrs.zero_is_zero = node.as<ReshapeAttrs>().zero_is_zero;
  Value kept = g.reshape(source, in[1], attrs);
  return same(regrouped(r, kept).value_or(kept));
}

Rewritten simplify_concat(Rewriter& r, const Node& node, Operands in) {
  if (in.size() == 1) return same(in[0]);
  auto axis = node.as<ConcatAttrs>().axis;
  std::vector<Value> parts;
  for (Value v : in) {
    bool nested = r.is(v, Op::Concat) && r.producer(v).as<ConcatAttrs>().axis == axis;
    if (!nested)
      parts.push_back(v);
    else
      parts.insert(parts.end(), r.producer(v).operands.begin(), r.producer(v).operands.end());
  }
  if (parts.size() == in.size()) return std::nullopt;
  return same(r.g().concat(parts, {.axis = axis}));
}

// TensorFlow's exporter slices up to 10^9 for "to the end". No host addresses a tensor of more than 2^47
// bytes, which bounds the size of an axis where the others are known.
int64_t largest_size(const Type& type, size_t axis) {
  int64_t bits = std::max(bit_width(type.dtype), 1), largest = (int64_t{1} << 50) / bits;
  for (size_t i = 0; i < type.dims->size(); ++i) {
    const Dim& d = (*type.dims)[i];
    if (i != axis) largest /= std::clamp<int64_t>(d.low(), 1, largest);
  }
  return std::max<int64_t>(largest, 1);
}

bool takes_whole_axis(const Type& type, size_t axis, const Dim& start, const Dim& end) {
  const Dim& size = (*type.dims)[axis];
  if (start != Dim(0)) return false;
  return end == size ||
         (end.is_constant() && end.constant() >= std::min(size.high(), largest_size(type, axis)));
}

// Whether every axis is taken from 0 to its end, with steps of 1.
bool takes_everything(Rewriter& r, Operands in) {
  GraphBuilder& g = r.g();
  auto starts = g.known_values(in[1]), ends = g.known_values(in[2]);
  if (!starts || !ends || starts->size() != ends->size() || !g.is_ranked(in[0])) return false;
  auto axes = in.size() > 3 ? g.known_values(in[3]) : std::nullopt;
  if (in.size() > 3 && !in[3].is_none() && !axes) return false;
  for (size_t i = 0; i < starts->size(); ++i) {
    auto axis = axes ? axes->at(i).value() : std::optional(static_cast<int64_t>(i));
    if (!axis) return false;
    if (*axis < 0) *axis += g.rank(in[0]);
    if (!takes_whole_axis(g.type(in[0]), static_cast<size_t>(*axis), (*starts)[i], (*ends)[i])) return false;
  }
  return true;
}

Rewritten simplify_slice(Rewriter& r, const Node& node, Operands in) {
  bool forward = in.size() < 5 || in[4].is_none() || all_are(r.g().known_values(in[4]), 1);
  if (!forward) return std::nullopt;
  Value kept = r.g().add(node.attrs, std::vector<Value>(in.begin(), in.end()))[0];
  return same(same_type(r.g(), kept, in[0]) || takes_everything(r, in) ? in[0] : kept);
}

Rewritten simplify_pad(Rewriter& r, const Node&, Operands in) {
  if (!r.g().is_ranked(in[0]) || !all_are(r.g().known_values(in[1]), 0)) return std::nullopt;
  return same(in[0]);
}

Rewritten simplify_tile(Rewriter& r, const Node&, Operands in) {
  if (!r.g().is_ranked(in[0]) || !all_are(r.g().known_values(in[1]), 1)) return std::nullopt;
  return same(in[0]);
}

Rewritten simplify_broadcast(Rewriter& r, const Node& node, Operands in) {
  Value kept = r.g().add(node.attrs, std::vector<Value>(in.begin(), in.end()))[0];
  return same(same_type(r.g(), kept, in[0]) ? in[0] : kept);
}

Rewritten simplify_split(Rewriter& r, const Node& node, Operands in) {
  if (node.types.size() != 1 || !r.g().is_ranked(in[0])) return std::nullopt;
  return same(in[0]);
}

}  // namespace

bool same_type(const GraphBuilder& g, Value a, Value b) {
  return g.is_ranked(a) && g.is_ranked(b) && g.type(a) == g.type(b);
}

Rewritten canonicalise_movement(Rewriter& r, const Node& node, Operands in) {
  switch (node.op) {
    case Op::Transpose: return simplify_transpose(r, node, in);
    case Op::Reshape: return simplify_reshape(r, node, in);
    case Op::Squeeze:
    case Op::Unsqueeze: return simplify_regrouping(r, node, in);
    case Op::Concat: return simplify_concat(r, node, in);
    case Op::Slice: return simplify_slice(r, node, in);
    case Op::Pad: return simplify_pad(r, node, in);
    case Op::Tile: return simplify_tile(r, node, in);
    case Op::BroadcastTo: return simplify_broadcast(r, node, in);
    case Op::Split: return simplify_split(r, node, in);
    default: return std::nullopt;
  }
}

}  // namespace ingot
