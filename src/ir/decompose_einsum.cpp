#include <set>

#include "ir/decompose_rules.h"
#include "ir/einsum.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

// An operand whose axes have labels, all different.
struct Labelled {
  Value value;
  EinsumLabels labels;

  bool has(int label) const { return std::ranges::find(labels, label) != labels.end(); }
  int64_t axis(int label) const { return std::ranges::find(labels, label) - labels.begin(); }
};

Labelled arrange(GraphBuilder& g, const Labelled& x, const EinsumLabels& order) {
  if (x.labels == order) return x;
  std::vector<int64_t> permutation;
  for (int label : order) permutation.push_back(x.axis(label));
  return {g.transpose(x.value, {.permutation = permutation}), order};
}

// Keeps the diagonal of the axes at positions `a` < `b`: they move to the end, where every (n + 1)-th element
// of the flattened pair lies on it.
Labelled take_diagonal(GraphBuilder& g, const Labelled& x, size_t a, size_t b) {
  std::vector<int64_t> permutation;
  EinsumLabels labels;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (i == a || i == b) continue;
    permutation.push_back(static_cast<int64_t>(i));
    labels.push_back(x.labels[i]);
  }
  auto last = static_cast<int64_t>(labels.size());
  permutation.push_back(static_cast<int64_t>(a));
  permutation.push_back(static_cast<int64_t>(b));
  labels.push_back(x.labels[a]);
  Value moved = g.transpose(x.value, {.permutation = permutation});
  Value n = g.shape_of(moved, {.start = last, .end = last + 1});
  Value flat = g.reshape(moved, g.concat({g.shape_of(moved, {.start = 0, .end = last}), g.mul(n, n)}),
                         {.zero_is_zero = true});
  Value diagonal = g.slice(flat, int_list(g, {0}), int_list(g, {INT64_MAX}), int_list(g, {last}),
                           g.add(n, int_list(g, {1})));
  return {diagonal, labels};
}

Labelled make_operand(GraphBuilder& g, Value value, const EinsumLabels& labels) {
  Labelled x{value, labels};
  for (size_t b = 0; b < x.labels.size(); ++b)
    for (size_t a = 0; a < b; ++a)
      if (x.labels[a] == x.labels[b]) {
        Labelled diagonal = take_diagonal(g, x, a, b);
        return make_operand(g, diagonal.value, diagonal.labels);
      }
  return x;
}

// Sums the axes that nobody else needs.
Labelled sum_unused(GraphBuilder& g, const Labelled& x, const std::set<int>& needed) {
  std::vector<int64_t> axes;
  EinsumLabels kept;
  for (int label : x.labels) {
    if (needed.contains(label))
      kept.push_back(label);
    else
      axes.push_back(x.axis(label));
  }
  if (axes.empty()) return x;
  return {g.reduce_sum(x.value, int_list(g, axes), {.keep_dims = false}), kept};
}

// The sizes of axes [begin, end) as i64[end - begin].
Value sizes(GraphBuilder& g, Value x, size_t begin, size_t end) {
  return g.shape_of(x, {.start = static_cast<int64_t>(begin), .end = static_cast<int64_t>(end)});
}

// The product of axes [begin, end) as i64[1].
Value total(GraphBuilder& g, Value x, size_t begin, size_t end) {
  return begin == end ? int_list(g, {1}) : g.reduce_prod(sizes(g, x, begin, end), int_list(g, {0}));
}

// One matrix product per position along the labels that both have and the result keeps.
Labelled contract(GraphBuilder& g, Labelled a, Labelled b, const std::set<int>& needed) {
  std::set<int> left = needed, right = needed;
  left.insert(b.labels.begin(), b.labels.end());
  right.insert(a.labels.begin(), a.labels.end());
  a = sum_unused(g, a, left);
  b = sum_unused(g, b, right);
  EinsumLabels batch, summed, rows, columns;
  for (int label : a.labels)
    (!b.has(label) ? rows : needed.contains(label) ? batch : summed).push_back(label);
  for (int label : b.labels)
    if (!a.has(label)) columns.push_back(label);
  auto joined = [](std::initializer_list<EinsumLabels> parts) {
    EinsumLabels out;
    for (const auto& p : parts) out.insert(out.end(), p.begin(), p.end());
    return out;
  };
  Value x = arrange(g, a, joined({batch, rows, summed})).value;
  Value y = arrange(g, b, joined({batch, summed, columns})).value;
  size_t nb = batch.size(), nr = nb + rows.size(), ns = nb + summed.size();
  Value depth = total(g, x, nr, a.labels.size()), width = total(g, y, ns, b.labels.size());
  ReshapeAttrs exact{.zero_is_zero = true};
  Value row_matrix = g.reshape(x, g.concat({sizes(g, x, 0, nb), total(g, x, nb, nr), depth}), exact);
  Value column_matrix = g.reshape(y, g.concat({sizes(g, y, 0, nb), depth, width}), exact);
  Value product = g.matmul(row_matrix, column_matrix);
  Value shape = g.concat({sizes(g, product, 0, nb), sizes(g, x, nb, nr), sizes(g, y, ns, b.labels.size())});
  return {g.reshape(product, shape, exact), joined({batch, rows, columns})};
}

}  // namespace

std::vector<Value> decompose_einsum(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  std::vector<size_t> ranks;
  for (Value v : in) ranks.push_back(static_cast<size_t>(g.rank(v)));
  EinsumEquation equation = parse_einsum(node.as<EinsumAttrs>().equation, ranks);
  Labelled result = make_operand(g, in[0], equation.inputs[0]);
  for (size_t i = 1; i < in.size(); ++i) {
    std::set<int> needed(equation.output.begin(), equation.output.end());
    for (size_t k = i + 1; k < in.size(); ++k)
      needed.insert(equation.inputs[k].begin(), equation.inputs[k].end());
    result = contract(g, result, make_operand(g, in[i], equation.inputs[i]), needed);
  }
  result = sum_unused(g, result, {equation.output.begin(), equation.output.end()});
  return {arrange(g, result, equation.output).value};
}

}  // namespace ingot
