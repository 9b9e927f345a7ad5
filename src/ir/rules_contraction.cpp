#include "ir/einsum.h"
#include "ir/rules.h"

namespace ingot::rules {

namespace {

// The shape of NumPy's matmul: a vector on the left is a row, on the right a column, and its axis is dropped.
Type product_type(const Inference& c, DType dtype) {
  if (!c.is_ranked(0) || !c.is_ranked(1)) return Type::unranked(dtype);
  Dims a = c.dims(0), b = c.dims(1);
  if (a.empty() || b.empty()) c.fail(a.empty() ? 0 : 1, "rank of at least 1", "a scalar");
  bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  const Dim &k = a.back(), &kb = b[b.size() - 2];
  if (k.is_constant() && kb.is_constant() && k != kb)
    c.fail(1, fmt::format("{} along the summed axis", k.constant()), to_string(c.dims(1)));
  auto out = broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!out) c.fail(1, "batch sizes that broadcast with " + to_string(c.dims(0)), to_string(c.dims(1)));
  if (!row) out->push_back(a[a.size() - 2]);
  if (!column) out->push_back(b.back());
  return Type::tensor(dtype, std::move(*out));
}

// A zero point stretches to its operand, and never the operand to it.
void check_zero_point(const Inference& c, size_t operand) {
  size_t zero = operand + 2;
  if (!c.has(zero)) return;
  c.require_same_dtype(operand, zero);
  if (!c.is_ranked(operand) || !c.is_ranked(zero)) return;
  const Dims &x = c.dims(operand), &z = c.dims(zero);
  bool fits = z.size() <= x.size();
  for (size_t i = 0; fits && i < z.size(); ++i) {
    const Dim &have = z[z.size() - 1 - i], &want = x[x.size() - 1 - i];
    fits = have == Dim(1) || have == want || !have.is_constant() || !want.is_constant();
  }
  if (!fits) c.fail(static_cast<int>(zero), "a shape that stretches to " + to_string(x), to_string(z));
}

}  // namespace

void matmul_type(Inference& c) {
  c.require_same_dtype(0, 1);
  c.set(0, product_type(c, c.dtype(0)));
}

// Sums of (a - a_zero_point) * (b - b_zero_point) in i32, which wraps.
void matmul_integer_type(Inference& c) {
  check_zero_point(c, 0);
  check_zero_point(c, 1);
  c.set(0, product_type(c, DType::i32));
}

// alpha * a b + beta * c for matrices; c stretches to the product.
void gemm_type(Inference& c) {
  const auto& attrs = c.attrs<GemmAttrs>();
  c.require_same_dtype(0, 1);
  if (c.has(2)) c.require_same_dtype(0, 2);
  for (size_t i : {size_t{0}, size_t{1}})
    if (c.is_ranked(i) && c.rank(i) != 2) c.fail(static_cast<int>(i), "a matrix", to_string(c.dims(i)));
  auto size = [&](size_t i, size_t axis) { return c.is_ranked(i) ? c.dims(i)[axis] : c.fresh("gemm"); };
  size_t ta = attrs.transpose_a ? 1 : 0, tb = attrs.transpose_b ? 1 : 0;
  Dim k = size(0, 1 - ta), kb = size(1, tb);
  if (k.is_constant() && kb.is_constant() && k != kb)
    c.fail(1, fmt::format("{} along the summed axis", k.constant()), to_string(c.dims(1)));
  Dims out = {size(0, ta), size(1, 1 - tb)};
  if (c.has(2) && c.is_ranked(2) && (c.rank(2) > 2 || !broadcast(c.dims(2), out)))
    c.fail(2, "a shape that stretches to " + to_string(out), to_string(c.dims(2)));
  c.set(0, c.dtype(0), std::move(out));
}

// Axes of one label are equal, or 1 and stretched.
void einsum_type(Inference& c) {
  if (c.operand_count() == 0) c.fail(-1, "at least one operand", "none");
  for (size_t i = 1; i < c.operand_count(); ++i) c.require_same_dtype(0, i);
  std::vector<size_t> ranks;
  for (size_t i = 0; i < c.operand_count(); ++i) {
    if (!c.is_ranked(i)) return c.set(0, Type::unranked(c.dtype(0)));
    ranks.push_back(c.dims(i).size());
  }
  EinsumEquation equation = parse_einsum(c.attrs<EinsumAttrs>().equation, ranks);
  std::map<int, Dim> sizes;
  for (size_t i = 0; i < c.operand_count(); ++i)
    for (size_t k = 0; k < ranks[i]; ++k) {
      auto [at, is_new] = sizes.emplace(equation.inputs[i][k], c.dims(i)[k]);
      auto merged = broadcast(at->second, c.dims(i)[k]);
      if (!merged)
        c.fail(static_cast<int>(i), "sizes that agree with the other axes of the same label",
               to_string(c.dims(i)));
      at->second = *merged;
    }
  Dims out;
  for (int label : equation.output) out.push_back(sizes.at(label));
  c.set(0, c.dtype(0), std::move(out));
}

}  // namespace ingot::rules
