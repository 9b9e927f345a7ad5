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

Rewritten simplify_regrouping(Rewriter& r, const Node& node, Operands in) {
  Value kept = r.g().add(node.attrs, std::vector<Value>(in.begin(), in.end()))[0];
  return same(same_elements_before(r, kept).value_or(kept));
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
  return same(same_elements_before(r, kept).value_or(kept));
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

Rewritten simplify_slice(Rewriter& r, const Node& node, Operands in) {
  bool forward = in.size() < 5 || in[4].is_none() || all_are(r.g().known_values(in[4]), 1);
  if (!forward) return std::nullopt;
  Value kept = r.g().add(node.attrs, std::vector<Value>(in.begin(), in.end()))[0];
  return same(same_type(r.g(), kept, in[0]) ? in[0] : kept);
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
