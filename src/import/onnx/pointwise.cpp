#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

using Values = std::vector<Value>;

// Up to opset 6, `broadcast` lets the axes of b stand for those of a from `axis` on, or for the last ones.
Value second_operand(OnnxNodeContext& c) {
  Value b = c.in(1);
  if (c.opset() >= 7 || !c.flag_attr("broadcast", false) || !c.has_attr("axis")) return b;
  GraphBuilder& g = c.g();
  if (!g.is_ranked(c.in(0)) || !g.is_ranked(b))
    c.fail_unsupported("known ranks beside attribute 'axis'", "unknown");
  int64_t rank = g.rank(c.in(0)), axis = c.int_attr("axis");
  if (axis < 0) axis += rank;
  int64_t after = rank - axis - g.rank(b);
  if (axis < 0 || after < 0) c.fail_invalid("an 'axis' at which b fits into a", to_string(g.type(b)));
  std::vector<int64_t> shape(static_cast<size_t>(g.rank(b)), 0);  // 0: keeps the size
  shape.insert(shape.end(), static_cast<size_t>(after), 1);
  return after == 0 ? b : g.reshape(b, int_list(g, shape));
}

// Ops whose meaning is one node.
template <class A>
Values unary(OnnxNodeContext& c) {
  return c.g().add(A{}, {c.in(0)});
}
template <class A>
Values binary(OnnxNodeContext& c) {
  return c.g().add(A{}, {c.in(0), second_operand(c)});
}
// a > b is b < a.
template <class A>
Values swapped(OnnxNodeContext& c) {
  return c.g().add(A{}, {second_operand(c), c.in(0)});
}

// Max, Min and Sum take any number of operands, at least one.
template <class A>
Values variadic(OnnxNodeContext& c) {
  Value result = c.in(0);
  for (size_t i = 1; i < c.input_count(); ++i) result = c.g().add(A{}, {result, c.in(i)})[0];
  return {result};
}

Values mean(OnnxNodeContext& c) {
  Value sum = variadic<AddAttrs>(c)[0];
  return {c.g().div(sum, scalar_like(c.g(), sum, static_cast<double>(c.input_count())))};
}

Values mod(OnnxNodeContext& c) {
  return {c.g().mod(c.in(0), c.in(1), {.truncate = c.flag_attr("fmod", false)})};
}

Values bit_shift(OnnxNodeContext& c) {
  bool left = c.enum_attr<bool>("direction", "", {{"LEFT", true}, {"RIGHT", false}});
  return {left ? c.g().shift_left(c.in(0), c.in(1)) : c.g().shift_right(c.in(0), c.in(1))};
}

Values is_inf(OnnxNodeContext& c) {
  return {c.g().is_inf(c.in(0), {.negative = c.flag_attr("detect_negative", true),
                                 .positive = c.flag_attr("detect_positive", true)})};
}

// Bounds are attributes up to opset 10, and inputs that may be absent from opset 11.
Values clip(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), low, high;
  if (c.opset() >= 11) {
    low = c.optional(1);
    high = c.optional(2);
  } else {
    if (c.has_attr("min")) low = scalar_like(g, x, c.float_attr("min"));
    if (c.has_attr("max")) high = scalar_like(g, x, c.float_attr("max"));
  }
  if (low.is_none() && high.is_none()) return {x};
  if (high.is_none()) return {g.max(x, low)};
  if (low.is_none()) return {g.min(x, high)};
  return {g.clamp(x, low, high)};
}

Values where(OnnxNodeContext& c) { return {c.g().select(c.in(0), c.in(1), c.in(2))}; }

}  // namespace

void add_onnx_pointwise(OnnxOpTable& t) {
  t[{"", "Abs"}] = {.import = unary<AbsAttrs>};
  t[{"", "Acos"}] = {.import = unary<AcosAttrs>, .first_opset = 7};
  t[{"", "Acosh"}] = {.import = unary<AcoshAttrs>, .first_opset = 9};
  t[{"", "Add"}] = {.import = binary<AddAttrs>};
  t[{"", "And"}] = {.import = binary<LogicalAndAttrs>};
  t[{"", "Asin"}] = {.import = unary<AsinAttrs>, .first_opset = 7};
  t[{"", "Asinh"}] = {.import = unary<AsinhAttrs>, .first_opset = 9};
  t[{"", "Atan"}] = {.import = unary<AtanAttrs>, .first_opset = 7};
  t[{"", "Atanh"}] = {.import = unary<AtanhAttrs>, .first_opset = 9};
  t[{"", "BitwiseAnd"}] = {.import = binary<BitwiseAndAttrs>, .first_opset = 18};
  t[{"", "BitwiseNot"}] = {.import = unary<BitwiseNotAttrs>, .first_opset = 18};
  t[{"", "BitwiseOr"}] = {.import = binary<BitwiseOrAttrs>, .first_opset = 18};
  t[{"", "BitwiseXor"}] = {.import = binary<BitwiseXorAttrs>, .first_opset = 18};
  t[{"", "Ceil"}] = {.import = unary<CeilAttrs>};
  t[{"", "Cos"}] = {.import = unary<CosAttrs>, .first_opset = 7};
  t[{"", "Cosh"}] = {.import = unary<CoshAttrs>, .first_opset = 9};
  t[{"", "Div"}] = {.import = binary<DivAttrs>};
  t[{"", "Equal"}] = {.import = binary<EqualAttrs>};
  t[{"", "Erf"}] = {.import = unary<ErfAttrs>, .first_opset = 9};
  t[{"", "Exp"}] = {.import = unary<ExpAttrs>};
  t[{"", "Floor"}] = {.import = unary<FloorAttrs>};
  t[{"", "Greater"}] = {.import = swapped<LessAttrs>};
  t[{"", "GreaterOrEqual"}] = {.import = swapped<LessOrEqualAttrs>, .first_opset = 12};
  t[{"", "IsNaN"}] = {.import = unary<IsNanAttrs>, .first_opset = 9};
  t[{"", "Less"}] = {.import = binary<LessAttrs>};
  t[{"", "LessOrEqual"}] = {.import = binary<LessOrEqualAttrs>, .first_opset = 12};
  t[{"", "Log"}] = {.import = unary<LogAttrs>};
  t[{"", "Max"}] = {.import = variadic<MaxAttrs>};
  t[{"", "Min"}] = {.import = variadic<MinAttrs>};
  t[{"", "Mul"}] = {.import = binary<MulAttrs>};
  t[{"", "Neg"}] = {.import = unary<NegAttrs>};
  t[{"", "Not"}] = {.import = unary<LogicalNotAttrs>};
  t[{"", "Or"}] = {.import = binary<LogicalOrAttrs>};
  t[{"", "Pow"}] = {.import = binary<PowAttrs>};
  t[{"", "Reciprocal"}] = {.import = unary<ReciprocalAttrs>};
  t[{"", "Round"}] = {.import = unary<RoundAttrs>, .first_opset = 11};
  t[{"", "Sign"}] = {.import = unary<SignAttrs>, .first_opset = 9};
  t[{"", "Sin"}] = {.import = unary<SinAttrs>, .first_opset = 7};
  t[{"", "Sinh"}] = {.import = unary<SinhAttrs>, .first_opset = 9};
  t[{"", "Sqrt"}] = {.import = unary<SqrtAttrs>};
  t[{"", "Sub"}] = {.import = binary<SubAttrs>};
  t[{"", "Sum"}] = {.import = variadic<AddAttrs>};
  t[{"", "Tan"}] = {.import = unary<TanAttrs>, .first_opset = 7};
  t[{"", "Tanh"}] = {.import = unary<TanhAttrs>};
  t[{"", "Xor"}] = {.import = binary<LogicalXorAttrs>};
  t[{"", "BitShift"}] = {.import = bit_shift, .first_opset = 11};
  t[{"", "Clip"}] = {.import = clip};
  t[{"", "IsInf"}] = {.import = is_inf, .first_opset = 10};
  t[{"", "Mean"}] = {.import = mean};
  t[{"", "Mod"}] = {.import = mod, .first_opset = 10};
  t[{"", "Where"}] = {.import = where, .first_opset = 9};
}

}  // namespace ingot
