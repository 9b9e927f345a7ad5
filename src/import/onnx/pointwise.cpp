#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"

namespace ingot {
namespace {

// Ops whose meaning is one builder method of one or two operands.
template <auto Method, class A>
std::vector<Value> unary(OnnxNodeContext& c) {
  return {(c.g().*Method)(c.in(0), A{})};
}

template <auto Method, class A>
std::vector<Value> binary(OnnxNodeContext& c) {
  return {(c.g().*Method)(c.in(0), c.in(1), A{})};
}

std::vector<Value> cast(OnnxNodeContext& c) {
  RoundMode round = c.enum_attr<RoundMode>(
      "round_mode", "up",
      {{"up", RoundMode::up}, {"down", RoundMode::down}, {"nearest", RoundMode::nearest}});
  return {c.g().cast(
      c.in(0), {.to = c.dtype_attr("to"), .saturate = c.flag_attr("saturate", true), .round_mode = round})};
}

std::vector<Value> where(OnnxNodeContext& c) { return {c.g().select(c.in(0), c.in(1), c.in(2))}; }

}  // namespace

void add_onnx_pointwise(OnnxOpTable& t) {
#define UNARY(OnnxName, Name, method) \
  t[{"", #OnnxName}] = {.import = unary<&GraphBuilder::method, Name##Attrs>}
#define BINARY(OnnxName, Name, method) \
  t[{"", #OnnxName}] = {.import = binary<&GraphBuilder::method, Name##Attrs>}
  UNARY(Abs, Abs, abs);
  UNARY(Neg, Neg, neg);
  UNARY(Sign, Sign, sign);
  UNARY(Ceil, Ceil, ceil);
  UNARY(Floor, Floor, floor);
  UNARY(Round, Round, round);
  UNARY(Sqrt, Sqrt, sqrt);
  UNARY(Reciprocal, Reciprocal, reciprocal);
  UNARY(Exp, Exp, exp);
  UNARY(Log, Log, log);
  UNARY(Sin, Sin, sin);
  UNARY(Cos, Cos, cos);
  UNARY(Tan, Tan, tan);
  UNARY(Asin, Asin, asin);
  UNARY(Acos, Acos, acos);
  UNARY(Atan, Atan, atan);
  UNARY(Sinh, Sinh, sinh);
  UNARY(Cosh, Cosh, cosh);
  UNARY(Tanh, Tanh, tanh);
  UNARY(Asinh, Asinh, asinh);
  UNARY(Acosh, Acosh, acosh);
  UNARY(Atanh, Atanh, atanh);
  UNARY(Erf, Erf, erf);
  UNARY(Sigmoid, Sigmoid, sigmoid);
  UNARY(Relu, Relu, relu);
  UNARY(Not, LogicalNot, logical_not);
  UNARY(BitwiseNot, BitwiseNot, bitwise_not);
  UNARY(IsNaN, IsNan, is_nan);
  BINARY(Less, Less, less);
  BINARY(LessOrEqual, LessOrEqual, less_or_equal);
  BINARY(Equal, Equal, equal);
#undef UNARY
#undef BINARY
  t[{"", "Cast"}] = {.import = cast};
  t[{"", "Where"}] = {.import = where};
}

}  // namespace ingot
