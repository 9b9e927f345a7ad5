#include "ir/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/routines/routine_testing.h"
#include "device/cpu/routines/vector_math.h"

namespace ingot::cpu::testing {
namespace {

struct Form {
  int64_t steps, batch, inputs, hidden;
  Direction direction = Direction::forward;
  bool bias = true, lengths = false, initial = true;
};

const Form kForms[] = {
    {1, 1, 20, 33},
    {1, 1, 70, 64, Direction::bidirectional},
    {6, 1, 5, 40, Direction::reverse},
    {5, 3, 7, 16, Direction::bidirectional, true, true, true},
    {4, 9, 3, 32, Direction::forward, false, false, false},
    {3, 2, 4, 5, Direction::reverse, true, true, false},
};

Tensor scaled(const Shape& shape, float scale, unsigned seed) {
  Tensor t = random(DType::f32, shape, seed);
  for (float& v : t.mutable_data<float>()) v *= scale;
  return t;
}

std::vector<Datum> operands(const Form& f, int64_t gates) {
  const auto d = static_cast<int64_t>(direction_count(f.direction));
  std::vector<int32_t> lengths;
  for (int64_t b = 0; b < f.batch; ++b) lengths.push_back(static_cast<int32_t>((b + 1) % (f.steps + 1)));
  return {scaled({f.steps, f.batch, f.inputs}, 0.2f, 1),
          scaled({d, gates * f.hidden, f.inputs}, 0.05f, 2),
          scaled({d, gates * f.hidden, f.hidden}, 0.03f, 3),
          f.bias ? Datum(scaled({d, 2 * gates * f.hidden}, 0.1f, 4)) : Datum(),
          f.lengths ? Datum(Tensor::of({f.batch}, lengths)) : Datum(),
          f.initial ? Datum(scaled({d, f.batch, f.hidden}, 0.1f, 5)) : Datum()};
}

template <class A>
A attrs(const Form& f, const std::vector<std::string>& activations) {
  A a;
  a.direction = f.direction;
  for (size_t d = 0; d < direction_count(f.direction); ++d)
    a.activations.insert(a.activations.end(), activations.begin(), activations.end());
  a.alphas.assign(a.activations.size(), 0.3);
  a.betas.assign(a.activations.size(), 0.6);
  return a;
}

constexpr RunOptions kClose = {.tolerance = 2e-6};

TEST(RecurrentRoutinesTest, LstmLikeReference) {
  for (const Form& f : kForms) {
    auto in = operands(f, 4);
    in.push_back(
        f.initial
            ? Datum(scaled({static_cast<int64_t>(direction_count(f.direction)), f.batch, f.hidden}, 0.1f, 6))
            : Datum());
    auto a = attrs<LstmAttrs>(f, {"sigmoid", "tanh", "tanh"});
    expect_like_reference(a, in, kClose, 3);
    in.push_back(scaled({static_cast<int64_t>(direction_count(f.direction)), 3 * f.hidden}, 0.1f, 7));
    a.clip = 0.5;
    a.input_forget = f.batch == 1;
    expect_like_reference(a, in, kClose, 3);
  }
}

TEST(RecurrentRoutinesTest, GruLikeReference) {
  for (const Form& f : kForms)
    for (bool linear : {false, true}) {
      auto a = attrs<GruAttrs>(f, {"sigmoid", "tanh"});
      a.linear_before_reset = linear;
      expect_like_reference(a, operands(f, 3), kClose, 2);
    }
}

TEST(RecurrentRoutinesTest, RnnWithEveryActivation) {
  for (std::string_view name : kRecurrentActivations)
    expect_like_reference(attrs<RnnAttrs>(kForms[3], {std::string(name)}), operands(kForms[3], 1), kClose, 2);
}

TEST(RecurrentRoutinesTest, LargeProductsAreSharedOut) {
  const Form f = {3, 1, 40, 270};
  expect_like_reference(attrs<GruAttrs>(f, {"sigmoid", "tanh"}), operands(f, 3), kClose, 2);
}

TEST(RecurrentRoutinesTest, StatesNobodyReadsAreNotWritten) {
  const Form f = kForms[2];
  auto in = operands(f, 4);
  for (int output : {0, 1, 2})
    expect_like_reference(attrs<LstmAttrs>(f, {"sigmoid", "tanh", "tanh"}), in,
                          {.tolerance = 2e-6, .unread = output}, 3);
}

// The largest error over a sample of all floats, in units of the last place of the exact result.
template <class F, class G>
double worst_ulp(F f, G exact, float low, float high) {
  double worst = 0;
  for (uint32_t bits = 0; bits < 0xffffff00u; bits += 5003) {
    const auto x = std::bit_cast<float>(bits);
    if (!(x >= low && x <= high)) continue;
    const double wanted = exact(static_cast<double>(x));
    if (std::fabs(wanted) < 0x1p-126) continue;
    const double ulp = std::ldexp(1.0, std::ilogb(wanted) - 23);
    worst = std::max(worst, std::fabs(static_cast<double>(f(x)) - wanted) / ulp);
  }
  return worst;
}

TEST(VectorMathTest, ErrorsOverAllFloats) {
  constexpr float kAll = std::numeric_limits<float>::max();
  EXPECT_LE(worst_ulp([](float x) { return fast_exp(x); }, [](double x) { return std::exp(x); }, -87, 88.7f),
            2);
  EXPECT_LE(
      worst_ulp([](float x) { return fast_sigmoid(x); },
                [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); },
                -87, kAll),
      3);
  EXPECT_LE(
      worst_ulp([](float x) { return fast_tanh(x); }, [](double x) { return std::tanh(x); }, -kAll, kAll), 3);
}

TEST(VectorMathTest, EndsOfTheRange) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fast_exp(-kInf), 0);
  EXPECT_EQ(fast_exp(kInf), kInf);
  EXPECT_EQ(fast_sigmoid(-kInf), 0);
  EXPECT_EQ(fast_sigmoid(kInf), 1);
  EXPECT_EQ(fast_tanh(-kInf), -1);
  EXPECT_TRUE(std::isnan(fast_exp(NAN)) && std::isnan(fast_sigmoid(NAN)) && std::isnan(fast_tanh(NAN)));
}

}  // namespace
}  // namespace ingot::cpu::testing
