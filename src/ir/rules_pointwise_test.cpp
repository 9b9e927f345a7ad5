#include <gtest/gtest.h>

#include "ingot/graph.h"
#include "ir/small_constants.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

class PointwiseRules : public testing::Test {
 protected:
  Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  GraphBuilder g;
  int inputs = 0;

  Value input(DType dtype, Dims dims) {
    return g.input(fmt::format("{}", inputs++), Type::tensor(dtype, std::move(dims)));
  }
  std::string type(Value v) { return to_string(g.type(v)); }
  // The message of the error that the call must throw.
  template <class F>
  std::string refusal(F f) {
    return thrown_by(f).what();
  }
};

TEST_F(PointwiseRules, SizesBroadcast) {
  Value x = input(DType::f32, {n, 3, m});
  EXPECT_EQ(type(g.sub(x, input(DType::f32, {3, 1}))), "f32[n, 3, m]");
  EXPECT_EQ(type(g.sub(x, input(DType::f32, {4, 1, 1, 7}))), "f32[4, n, 3, 7]");
  EXPECT_EQ(type(g.clamp(x, scalar(g, DType::f32, 0), scalar(g, DType::f32, 1))), "f32[n, 3, m]");
  EXPECT_EQ(type(g.less(x, x)), "bool[n, 3, m]");
}

TEST_F(PointwiseRules, AnUnknownRankStaysUnknown) {
  Value x = g.input("x", Type::unranked(DType::f16));
  EXPECT_EQ(type(g.sub(x, input(DType::f16, {3}))), "f16[*]");
  EXPECT_EQ(type(g.gelu(x)), "f16[*]");
  EXPECT_EQ(type(g.quantize(x, scalar(g, DType::f32, 1), {}, {.to = DType::i4})), "i4[*]");
}

TEST_F(PointwiseRules, ElementTypesNeverMix) {
  Value x = input(DType::f32, {3}), y = input(DType::f16, {3});
  EXPECT_NE(refusal([&] { g.mul(x, y); }).find("op mul, operand 1 (b)"), std::string::npos);
  EXPECT_NE(refusal([&] { g.clamp(x, x, y); }).find("op clamp, operand 2 (high)"), std::string::npos);
  EXPECT_EQ(type(g.pow(x, y)), "f32[3]");
}

TEST_F(PointwiseRules, SizesThatCannotMeetAreNamed) {
  Value x = input(DType::f32, {2, 3}), y = input(DType::f32, {4});
  EXPECT_NE(refusal([&] { g.mul(x, y); }).find("[4]"), std::string::npos);
}

TEST_F(PointwiseRules, OpsKeepToTheTypesOfTheTable) {
  Value flags = input(DType::boolean, {2}), words = input(DType::string, {2}), whole = input(DType::i32, {2});
  EXPECT_EQ(thrown_by([&] { g.mul(flags, flags); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { g.exp(whole); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { g.shift_left(whole, whole); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(type(g.equal(words, words)), "bool[2]");
}

TEST_F(PointwiseRules, RandomShapesComeFromAnOperand) {
  Value x = input(DType::i8, {n, 3, m});
  EXPECT_EQ(type(g.random_normal(g.shape_of(x))), "f32[n, 3, m]");
  EXPECT_EQ(type(g.random_uniform(input(DType::i64, {n}), {.dtype = DType::f16})), "f16[*]");
  EXPECT_EQ(thrown_by([&] { g.random_uniform(int_list(g, {-1})); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { g.random_uniform(int_list(g, {1}), {.dtype = DType::i8}); }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(type(g.multinomial(input(DType::f32, {n, 5}), {.sample_size = 4})), "i32[n, 4]");
}

TEST_F(PointwiseRules, ZeroPointsOfIntegerProductsMustNotEnlargeThem) {
  Value a = input(DType::u8, {n, 4}), b = input(DType::i8, {4, 5});
  EXPECT_EQ(type(g.matmul_integer(a, b, input(DType::u8, {1, 1}), input(DType::i8, {5}))), "i32[n, 5]");
  EXPECT_EQ(thrown_by([&] { g.matmul_integer(a, b, {}, input(DType::i8, {6})); }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] {
              g.matmul_integer(a, b, {}, input(DType::i8, {2, 4, 5}));
            }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { g.matmul_integer(a, b, {}, input(DType::u8, {5})); }).code(),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ingot
