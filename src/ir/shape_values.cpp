#include "ir/shape_values.h"

#include "ingot/error.h"
#include "ir/op_info.h"
#include "ir/shape_values_movement.h"

namespace ingot {
namespace {

constexpr size_t kMaxValues = 64;
using Values = std::vector<Dim>;
using Known = std::optional<Values>;
using Maybe = std::optional<Dim>;

Known shape_of(const Node& node, const Type& operand) {
  if (!operand.is_ranked()) return std::nullopt;
  const auto& a = node.as<ShapeOfAttrs>();
  auto rank = static_cast<int64_t>(operand.dims->size());
  auto [start, end] = axis_range(a, rank);
  return Values(operand.dims->begin() + start, operand.dims->begin() + end);
}

template <class F>
Known elementwise(const Known& a, const Known& b, F f) {
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
  Values out;
  // One value meets any number of others, none included.
  const size_t count = a->size() == 1 ? b->size() : a->size();
  for (size_t i = 0; i < count; ++i) {
    auto r = f((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!r) return std::nullopt;
    out.push_back(*r);
  }
  return out;
}

// Integer division truncates; on sizes that are never negative this is floordiv.
Maybe quotient(const Dim& a, const Dim& b) {
  if (a.low() < 0 || b.low() <= 0) return std::nullopt;
  return floordiv(a, b);
}

Maybe remainder(const Dim& a, const Dim& b) {
  if (a.low() < 0 || b.low() <= 0) return std::nullopt;
  return mod(a, b);
}

Maybe truth(bool value) { return Dim(value ? 1 : 0); }

// Comparisons are known where the ranges decide.
Maybe equals(const Dim& a, const Dim& b) {
  if (a == b) return truth(true);
  if (a.low() > b.high() || b.low() > a.high()) return truth(false);
  return std::nullopt;
}
Maybe less(const Dim& a, const Dim& b) {
  if (a.high() < b.low()) return truth(true);
  if (a == b || a.low() >= b.high()) return truth(false);
  return std::nullopt;
}

Known negated(const Known& in) {
  return elementwise(in, in, [](const Dim& a, const Dim&) { return Maybe(Dim(1) - a); });
}

Known select(const Known& condition, const Known& a, const Known& b) {
  if (!condition || !a || !b) return std::nullopt;
  size_t n = 1;
  for (const Known* v : {&condition, &a, &b})
    if ((*v)->size() != 1) n = (*v)->size();
  auto at = [n](const Values& v, size_t i) { return v.size() == n ? v[i] : v[0]; };
  for (const Known* v : {&condition, &a, &b})
    if ((*v)->size() != n && (*v)->size() != 1) return std::nullopt;
  Values out;
  for (size_t i = 0; i < n; ++i) {
    Dim decided = at(*condition, i);
    if (!decided.is_constant()) return std::nullopt;
    out.push_back(at(decided == Dim(0) ? *b : *a, i));
  }
  return out;
}

Known concat(const std::vector<Known>& operands) {
  Values out;
  for (const Known& v : operands) {
    if (!v) return std::nullopt;
    out.insert(out.end(), v->begin(), v->end());
  }
  return out;
}

}  // namespace

Known constant_values(const Tensor& tensor) {
  if (tensor.rank() > 1 || tensor.count() > static_cast<int64_t>(kMaxValues)) return std::nullopt;
  Tensor t = tensor.aligned();
  if (t.dtype() == DType::i64) return Values(t.data<int64_t>().begin(), t.data<int64_t>().end());
  if (t.dtype() == DType::i32) return Values(t.data<int32_t>().begin(), t.data<int32_t>().end());
  if (t.dtype() == DType::boolean) {
    Values out;
    for (bool b : t.data<bool>()) out.push_back(Dim(b ? 1 : 0));
    return out;
  }
  return std::nullopt;
}

namespace {

Known cast(DType to, const Known& in) {
  if (!in || to != DType::boolean) return in;
  return elementwise(in, in,
                     [](const Dim& a, const Dim&) { return a.is_constant() ? truth(a != Dim(0)) : Maybe(); });
}

Known compute(const Node& node, const std::vector<Type>& types, const std::vector<Known>& in) {
  auto both = [&](auto f) { return elementwise(in[0], in[1], f); };
  switch (node.op) {
    case Op::Constant: return constant_values(node.as<ConstantAttrs>().value);
    case Op::ShapeOf: return shape_of(node, types[0]);
    case Op::Reshape: return in[0];
    case Op::Cast: return cast(node.types[0].dtype, in[0]);
    case Op::Concat: return concat(in);
    case Op::Add: return both([](const Dim& a, const Dim& b) { return Maybe(a + b); });
    case Op::Sub: return both([](const Dim& a, const Dim& b) { return Maybe(a - b); });
    case Op::Mul: return both([](const Dim& a, const Dim& b) { return Maybe(a * b); });
    case Op::Max: return both([](const Dim& a, const Dim& b) { return Maybe(max(a, b)); });
    case Op::Min: return both([](const Dim& a, const Dim& b) { return Maybe(min(a, b)); });
    case Op::Neg: return elementwise(in[0], in[0], [](const Dim& a, const Dim&) { return Maybe(-a); });
    case Op::Div: return both(quotient);
    case Op::Mod: return both(remainder);
    case Op::Equal: return both(equals);
    case Op::Less: return both(less);
    case Op::LessOrEqual: return negated(elementwise(in[1], in[0], less));
    case Op::LogicalNot: return negated(in[0]);
    case Op::Select: return select(in[0], in[1], in[2]);
    default: return moved_shape_values(node, types, in);
  }
}

}  // namespace

Known shape_values(const Node& node, const std::vector<Type>& types, const std::vector<Known>& in) {
  constexpr TypeSet kHeld = types::Index | types::Boolean;
  const Type& out = node.types[0];
  if (!out.is_tensor() || (bit(out.dtype) & kHeld) == 0 || !out.dims || out.dims->size() > 1)
    return std::nullopt;
  try {
    Known result = compute(node, types, in);
    return result && result->size() <= kMaxValues ? result : std::nullopt;
  } catch (const Error& e) {
    // Numbers too large for sizes are not sizes: they are computed at run time.
    if (e.code() == ErrorCode::invalid_argument || e.code() == ErrorCode::out_of_memory) return std::nullopt;
    throw;
  }
}

std::optional<std::vector<int64_t>> numbers(const std::optional<std::vector<Dim>>& values) {
  if (!values) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dim& d : *values) {
    if (!d.is_constant()) return std::nullopt;
    out.push_back(d.constant());
  }
  return out;
}

std::pair<int64_t, int64_t> axis_range(const ShapeOfAttrs& attrs, int64_t rank) {
  auto clamp = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  int64_t first = clamp(attrs.start);
  return {first, std::max(clamp(attrs.end), first)};
}

}  // namespace ingot
