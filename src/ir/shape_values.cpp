#include "ir/shape_values.h"

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
  auto clamp = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  int64_t start = clamp(a.start), end = std::max(clamp(a.end), start);
  return Values(operand.dims->begin() + start, operand.dims->begin() + end);
}

template <class F>
Known elementwise(const Known& a, const Known& b, F f) {
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
  Values out;
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
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
  return std::nullopt;
}

Known shape_values(const Node& node, const std::vector<Type>& types, const std::vector<Known>& in) {
  const Type& out = node.types[0];
  if (!out.is_tensor() || (out.dtype != DType::i64 && out.dtype != DType::i32) || !out.dims ||
      out.dims->size() > 1)
    return std::nullopt;
  Known result;
  switch (node.op) {
    case Op::Constant: result = constant_values(node.as<ConstantAttrs>().value); break;
    case Op::ShapeOf: result = shape_of(node, types[0]); break;
    case Op::Cast:
    case Op::Reshape: result = in[0]; break;
    case Op::Concat: result = concat(in); break;
    case Op::Add:
      result = elementwise(in[0], in[1], [](const Dim& a, const Dim& b) { return Maybe(a + b); });
      break;
    case Op::Sub:
      result = elementwise(in[0], in[1], [](const Dim& a, const Dim& b) { return Maybe(a - b); });
      break;
    case Op::Mul:
      result = elementwise(in[0], in[1], [](const Dim& a, const Dim& b) { return Maybe(a * b); });
      break;
    case Op::Max:
      result = elementwise(in[0], in[1], [](const Dim& a, const Dim& b) { return Maybe(max(a, b)); });
      break;
    case Op::Min:
      result = elementwise(in[0], in[1], [](const Dim& a, const Dim& b) { return Maybe(min(a, b)); });
      break;
    case Op::Div: result = elementwise(in[0], in[1], quotient); break;
    default: result = moved_shape_values(node, types, in); break;
  }
  if (result && result->size() > kMaxValues) return std::nullopt;
  return result;
}

}  // namespace ingot
