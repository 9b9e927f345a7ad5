#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "device/reference/elements.h"
#include "device/reference/evaluate.h"
#include "device/reference/kernel.h"
#include "ir/decompose.h"
#include "ir/op_info.h"

// Every pointwise row of the op table, on every element type the row allows, against a formula in double.
namespace ingot::reference {
namespace {

struct Args {
  double a = 0, b = 0, c = 0;
  bool whole = false;  // the element type is an integer or boolean
  int bits = 0;
};
using Formula = std::function<double(const Args&)>;

double round_half_even(double x) {
  double low = std::floor(x), rest = x - low;
  if (rest == 0.5) return std::fmod(low, 2) == 0 ? low : low + 1;
  return rest < 0.5 ? low : low + 1;
}

double divide(const Args& x) {
  if (!x.whole) return x.a / x.b;
  return x.b == 0 ? 0 : std::trunc(x.a / x.b);
}

double floor_mod(const Args& x) {
  if (x.whole && x.b == 0) return 0;
  double r = std::fmod(x.a, x.b);
  return r != 0 && (r < 0) != (x.b < 0) ? r + x.b : r;
}

double power(const Args& x) {
  double p = std::pow(x.a, x.b);
  return x.whole ? (std::isinf(p) ? 0 : std::trunc(p)) : p;
}

double softplus(double x) { return std::log1p(std::exp(x)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double bitwise(const Args& x, uint64_t (*f)(uint64_t, uint64_t)) {
  return static_cast<double>(static_cast<int64_t>(
      f(static_cast<uint64_t>(static_cast<int64_t>(x.a)), static_cast<uint64_t>(static_cast<int64_t>(x.b)))));
}

const std::map<std::string_view, Formula>& formulas() {
#define F(text, expression)                                  \
  {                                                          \
    text, [](const Args& x) -> double { return expression; } \
  }
  static const std::map<std::string_view, Formula> table = {
      F("abs", std::fabs(x.a)),
      F("acos", std::acos(x.a)),
      F("acosh", std::acosh(x.a)),
      F("add", x.a + x.b),
      F("asin", std::asin(x.a)),
      F("asinh", std::asinh(x.a)),
      F("atan", std::atan(x.a)),
      F("atanh", std::atanh(x.a)),
      F("bitwise_and", bitwise(x, [](uint64_t a, uint64_t b) { return a & b; })),
      F("bitwise_not", -x.a - 1),
      F("bitwise_or", bitwise(x, [](uint64_t a, uint64_t b) { return a | b; })),
      F("bitwise_xor", bitwise(x, [](uint64_t a, uint64_t b) { return a ^ b; })),
      F("ceil", std::ceil(x.a)),
      F("clamp", std::min(std::max(x.a, x.b), x.c)),
      F("cos", std::cos(x.a)),
      F("cosh", std::cosh(x.a)),
      F("div", divide(x)),
      F("elu", x.a < 0 ? std::expm1(x.a) : x.a),
      F("equal", x.a == x.b),
      F("erf", std::erf(x.a)),
      F("exp", std::exp(x.a)),
      F("floor", std::floor(x.a)),
      F("gelu", gelu(x.a)),
      F("hard_sigmoid", std::clamp(0.2 * x.a + 0.5, 0.0, 1.0)),
      F("hard_swish", x.a * std::clamp(x.a / 6 + 0.5, 0.0, 1.0)),
      F("is_inf", std::isinf(x.a)),
      F("is_nan", std::isnan(x.a)),
      F("leaky_relu", x.a < 0 ? 0.01 * x.a : x.a),
      F("less", x.a < x.b),
      F("less_or_equal", x.a <= x.b),
      F("log", std::log(x.a)),
      F("logical_and", x.a * x.b),
      F("logical_not", 1 - x.a),
      F("logical_or", std::max(x.a, x.b)),
      F("logical_xor", x.a != x.b),
      F("max", std::max(x.a, x.b)),
      F("min", std::min(x.a, x.b)),
      F("mish", x.a * std::tanh(softplus(x.a))),
      F("mod", floor_mod(x)),
      F("mul", x.a * x.b),
      F("neg", -x.a),
      F("pow", power(x)),
      F("prelu", x.a < 0 ? x.a * x.b : x.a),
      F("reciprocal", 1 / x.a),
      F("relu", std::max(x.a, 0.0)),
      F("round", round_half_even(x.a)),
      F("select", x.a != 0 ? x.b : x.c),
      F("shift_left", std::ldexp(x.a, static_cast<int>(x.b))),
      F("shift_right", std::floor(std::ldexp(x.a, -static_cast<int>(x.b)))),
      F("sigmoid", sigmoid(x.a)),
      F("sign", (x.a > 0) - (x.a < 0)),
      F("sin", std::sin(x.a)),
      F("sinh", std::sinh(x.a)),
      F("softplus", softplus(x.a)),
      F("sqrt", std::sqrt(x.a)),
      F("sub", x.a - x.b),
      F("swish", x.a * sigmoid(x.a)),
      F("tan", std::tan(x.a)),
      F("tanh", std::tanh(x.a)),
  };
#undef F
  return table;
}

// Numbers that the type holds exactly.
std::vector<double> samples(DType dtype) {
  if (dtype == DType::boolean) return {0, 1};
  if (dtype == DType::f8e8m0) return {0.25, 0.5, 1, 2, 4};
  if (is_floating(dtype)) return {-3, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 4};
  if (is_signed_integer(dtype)) return {-2, -1, 0, 1};
  return {0, 1, 2, 3};
}

Tensor tensor_of(DType dtype, Shape shape, const std::vector<double>& elements) {
  Tensor t = Tensor::allocate(dtype, std::move(shape));
  store(t, elements);
  return t;
}

bool close(double got, double want, DType dtype) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  return got == want || (dtype == DType::f64 && std::fabs(got - want) <= 1e-14 * std::fabs(want));
}

// What a type makes of a number: floats round, integers wrap.
double stored(DType dtype, double value) {
  Tensor t = tensor_of(dtype, {}, {value});
  return load<double>(t)[0];
}

// Operands of shapes [n], [n, 1] and [n, 1, 1], so that every combination of samples occurs.
std::vector<Tensor> operands(const OpInfo& op, DType dtype) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    DType own = op.operands[i].types == types::Boolean ? DType::boolean : dtype;
    auto values = samples(own);
    Shape shape(i + 1, 1);
    shape[0] = static_cast<int64_t>(values.size());
    out.push_back(tensor_of(own, shape, values));
  }
  return out;
}

Graph graph_of(const OpInfo& op, const std::vector<Tensor>& tensors) {
  GraphBuilder g;
  std::vector<Value> values;
  for (size_t i = 0; i < tensors.size(); ++i)
    values.push_back(g.input(fmt::format("{}", i), Type::of(tensors[i])));
  g.output("y", g.add(op.make_attrs({}), values)[0]);
  return std::move(g).finish();
}

void check(const OpInfo& op, DType dtype, const Formula& formula) {
  auto tensors = operands(op, dtype);
  std::vector<Datum> inputs(tensors.begin(), tensors.end());
  Tensor y = evaluate(graph_of(op, tensors), inputs)[0].tensor();
  auto got = load<double>(y);
  std::vector<std::vector<double>> in(3, {0.0});
  for (size_t i = 0; i < tensors.size(); ++i) in[i] = load<double>(tensors[i]);
  size_t n = 0;
  for (double c : in[2])
    for (double b : in[1])
      for (double a : in[0]) {
        Args args{a, b, c, !is_floating(dtype), bit_width(dtype)};
        double want = stored(y.dtype(), formula(args));
        EXPECT_TRUE(close(got.at(n), want, y.dtype()))
            << op.name << " " << to_string(dtype) << " of " << a << ", " << b << ", " << c << ": " << got[n]
            << " for " << want;
        ++n;
      }
  EXPECT_EQ(n, got.size());
}

TEST(Pointwise, EveryOpOnEveryTypeFollowsItsFormula) {
  for (const OpInfo& op : all_ops()) {
    if (!op.is(Pointwise) || op.op == Op::Cast || op.op == Op::BitCast) continue;
    ASSERT_TRUE(formulas().contains(op.name)) << "no formula for " << op.name;
    TypeSet allowed = op.operands.size() == 3 ? op.operands[1].types : op.operands[0].types;
    for (int t = 0; t < 64; ++t)
      if ((allowed >> t & 1) != 0 && static_cast<DType>(t) != DType::string)
        check(op, static_cast<DType>(t), formulas().at(op.name));
  }
}

TEST(Pointwise, KernelsOfCompositesAgreeWithTheirDecomposition) {
  for (const OpInfo& op : all_ops()) {
    if (!op.is(Pointwise) || !op.is(Composite)) continue;
    ASSERT_NE(find_kernel(op.op), nullptr) << op.name;
    for (DType dtype : {DType::f32, DType::f64}) {
      auto tensors = operands(op, dtype);
      std::vector<Datum> inputs(tensors.begin(), tensors.end());
      Graph whole = graph_of(op, tensors);
      Decomposed parts = decompose(whole.node(whole.outputs()[0].value), inputs);
      auto want = load<double>(evaluate(whole, inputs)[0].tensor());
      auto got = load<double>(evaluate(parts.graph, parts.inputs)[0].tensor());
      ASSERT_EQ(got.size(), want.size());
      double bound = dtype == DType::f32 ? 1e-6 : 1e-14;
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], want[i], bound * (1 + std::fabs(want[i]))) << op.name;
    }
  }
}

Tensor binary(Op op, const Tensor& a, const Tensor& b) {
  std::vector<Datum> inputs = {a, b};
  return evaluate(graph_of(op_info(op), {a, b}), inputs)[0].tensor();
}

TEST(Pointwise, IntegersWrapAndDivideWithoutTraps) {
  auto lowest = Tensor::of<int64_t>({1}, {INT64_MIN}), minus_one = Tensor::of<int64_t>({1}, {-1});
  EXPECT_EQ(binary(Op::Div, lowest, minus_one).data<int64_t>()[0], INT64_MIN);
  EXPECT_EQ(binary(Op::Mod, lowest, minus_one).data<int64_t>()[0], 0);
  EXPECT_EQ(binary(Op::Add, lowest, minus_one).data<int64_t>()[0], INT64_MAX);
  EXPECT_EQ(binary(Op::Div, lowest, Tensor::of<int64_t>({1}, {0})).data<int64_t>()[0], 0);
  auto byte = binary(Op::Add, Tensor::of<uint8_t>({1}, {200}), Tensor::of<uint8_t>({1}, {100}));
  EXPECT_EQ(byte.data<uint8_t>()[0], 44);
}

TEST(Pointwise, NanWinsInMaxAndMin) {
  auto nan = Tensor::of<float>({1}, {NAN}), one = Tensor::of<float>({1}, {1});
  for (Op op : {Op::Max, Op::Min}) {
    EXPECT_TRUE(std::isnan(binary(op, nan, one).data<float>()[0]));
    EXPECT_TRUE(std::isnan(binary(op, one, nan).data<float>()[0]));
  }
}

TEST(Pointwise, TextIsComparedAndSelected) {
  auto words = Tensor::of_strings({3}, {"a", "b", "c"});
  Tensor equal = binary(Op::Equal, words, Tensor::of_strings({}, {"b"}));
  EXPECT_EQ(load<double>(equal), (std::vector<double>{0, 1, 0}));
}

}  // namespace
}  // namespace ingot::reference
