#include "ir/gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "device/reference/evaluate.h"
#include "ingot/error.h"
#include "ir/parse.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using Function = Value (*)(GraphBuilder&, Value, Value);

// d f / d a and d f / d b at a = 1.5, b = 0.7.
std::pair<double, double> derivatives(Function f) {
  GraphBuilder g("g");
  Value a = g.input("a", Type::tensor(DType::f64, {1})), b = g.input("b", Type::tensor(DType::f64, {1}));
  std::vector<Value> d = gradients(g, f(g, a, b), std::vector{a, b});
  g.output("da", d[0]);
  g.output("db", d[1]);
  std::vector<Datum> in = {Tensor::of<double>({1}, {1.5}), Tensor::of<double>({1}, {0.7})};
  auto out = reference::evaluate(std::move(g).finish(), in);
  return {out[0].tensor().data<double>()[0], out[1].tensor().data<double>()[0]};
}

TEST(GradientTest, MatchesTheDerivativesOfCalculus) {
  const double a = 1.5, b = 0.7;
  auto [qa, qb] = derivatives([](GraphBuilder& g, Value x, Value y) { return g.div(g.mul(x, x), y); });
  EXPECT_NEAR(qa, 2 * a / b, 1e-12);
  EXPECT_NEAR(qb, -a * a / (b * b), 1e-12);
  auto [ta, tb] = derivatives([](GraphBuilder& g, Value x, Value y) { return g.tanh(g.sub(g.exp(y), x)); });
  const double slope = 1 - std::pow(std::tanh(std::exp(b) - a), 2);
  EXPECT_NEAR(ta, -slope, 1e-12);
  EXPECT_NEAR(tb, slope * std::exp(b), 1e-12);
  auto [la, lb] =
      derivatives([](GraphBuilder& g, Value x, Value y) { return g.add(g.log(x), g.sqrt(g.neg(g.neg(y)))); });
  EXPECT_NEAR(la, 1 / a, 1e-12);
  EXPECT_NEAR(lb, 0.5 / std::sqrt(b), 1e-12);
  auto [sa, sb] = derivatives([](GraphBuilder& g, Value x, Value) { return g.sigmoid(x); });
  EXPECT_NEAR(sa, std::exp(-a) / std::pow(1 + std::exp(-a), 2), 1e-12);
  EXPECT_EQ(sb, 0);
}

TEST(GradientTest, NamesAnOpWithoutARule) {
  GraphBuilder g("g");
  Value x = g.input("x", Type::tensor(DType::f32, {2, 2}));
  Value y = g.matmul(x, x);
  Error e = thrown_by([&] { gradients(g, y, std::vector{x}); });
  EXPECT_EQ(e.code(), ErrorCode::unsupported);
  EXPECT_NE(std::string(e.what()).find("matmul"), std::string::npos);
}

}  // namespace
}  // namespace ingot
