#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/reference/elements.h"
#include "device/reference/evaluate.h"
#include "ir/small_constants.h"

namespace ingot::reference {
namespace {

template <class Draw>
std::vector<double> drawn(Draw draw) {
  GraphBuilder g;
  g.output("y", draw(g));
  return load<double>(evaluate(std::move(g).finish(), {})[0].tensor());
}

std::vector<double> uniform(DType dtype, int64_t count, double low, double high, int64_t seed) {
  return drawn([&](GraphBuilder& g) {
    return g.random_uniform(int_list(g, {count}), {.dtype = dtype, .low = low, .high = high, .seed = seed});
  });
}

double mean(const std::vector<double>& x) {
  double sum = 0;
  for (double e : x) sum += e;
  return sum / static_cast<double>(x.size());
}

TEST(Random, UniformFillsItsRangeAndStaysBelowTheUpperEnd) {
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    auto x = uniform(dtype, 20000, 0, 1, 7);
    EXPECT_GE(*std::ranges::min_element(x), 0);
    EXPECT_LT(*std::ranges::max_element(x), 1) << to_string(dtype);
    EXPECT_NEAR(mean(x), 0.5, 0.01) << to_string(dtype);
  }
  auto x = uniform(DType::f32, 20000, -3, 5, 7);
  EXPECT_NEAR(mean(x), 1, 0.08);
}

TEST(Random, ASeedRepeatsAndAnotherDiffers) {
  EXPECT_EQ(uniform(DType::f32, 100, 0, 1, 5), uniform(DType::f32, 100, 0, 1, 5));
  EXPECT_NE(uniform(DType::f32, 100, 0, 1, 5), uniform(DType::f32, 100, 0, 1, 6));
}

TEST(Random, FirstNumberIsTheFirstBlockOfTheGenerator) {
  // Words 0 and 1 of the known answer for key 0 and counter 0: 0x6627e8d5, 0xe169c58d.
  EXPECT_EQ(uniform(DType::f64, 1, 0, 1, 0)[0],
            std::ldexp(static_cast<double>(0xe169c58d6627e8d5 >> 11), -53));
}

TEST(Random, NormalHasItsMeanAndDeviation) {
  auto x = drawn([](GraphBuilder& g) {
    return g.random_normal(int_list(g, {200, 100}), {.mean = 2, .scale = 3, .seed = 1});
  });
  double m = mean(x), square = 0;
  for (double e : x) square += (e - m) * (e - m);
  EXPECT_NEAR(m, 2, 0.1);
  EXPECT_NEAR(std::sqrt(square / static_cast<double>(x.size())), 3, 0.1);
}

TEST(Random, MultinomialFollowsTheLogProbabilities) {
  auto x = drawn([](GraphBuilder& g) {
    Value scores = g.constant(Tensor::of<double>({2, 3}, {std::log(0.2), std::log(0.5), std::log(0.3),  //
                                                          -INFINITY, 1000, -INFINITY}));
    return g.multinomial(scores, {.sample_size = 10000, .seed = 3, .dtype = DType::i64});
  });
  auto share = [&](double label) {
    return static_cast<double>(std::count(x.begin(), x.begin() + 10000, label)) / 1e4;
  };
  EXPECT_NEAR(share(0), 0.2, 0.02);
  EXPECT_NEAR(share(1), 0.5, 0.02);
  EXPECT_NEAR(share(2), 0.3, 0.02);
  EXPECT_EQ(std::count(x.begin() + 10000, x.end(), 1.0), 10000);
}

}  // namespace
}  // namespace ingot::reference
