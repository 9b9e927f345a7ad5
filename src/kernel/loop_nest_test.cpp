#include "kernel/loop_nest.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ingot/error.h"
#include "kernel/interpret.h"
#include "kernel/schedule.h"
#include "support/nest_builder.h"
#include "support/thrown_by.h"

namespace ingot::kernel {
namespace {

NestBuilder softmax(int64_t rows, int64_t columns) {
  NestBuilder n({rows}, {columns});
  const auto x = n.load(DType::f32, {columns, 1});
  const auto e = n.op(Op::Exp, {n.op(Op::Sub, {x, n.reduce(Op::ReduceMax, x)})});
  n.store(DType::f32, {columns, 1}, n.op(Op::Div, {e, n.reduce(Op::ReduceSum, e)}));
  return n;
}

TEST(LoopNest, PrintsEverythingThatDecidesTheCode) {
  NestBuilder n({4}, {7});
  n.nest.axes[1].extent = Size::given(0);
  const auto x = n.load(DType::bf16, {7, 1});
  const auto y = n.op(Op::LeakyRelu, {x});
  n.nest.exprs.back().real = 0.5;
  n.store(DType::f32, {1, 0}, n.reduce(Op::ReduceSum, n.op(Op::Mul, {y, n.real(3)})));
  EXPECT_EQ(to_string(n.nest),
            "nest, vectors along 1\n"
            "axis 4\n"
            "axis n0 reduced\n"
            "access bf16 7 1\n"
            "access f32 1 0\n"
            "0 = f32 load 0\n"
            "1 = f32 leaky_relu(0) 0x1p-1 0x0p+0\n"
            "2 = f32 constant 0x1.8p+1\n"
            "3 = f32 mul(1, 2)\n"
            "4 = f32 reduce reduce_sum(3)\n"
            "store 4 to 1\n");
}

TEST(LoopNest, WhatVariesOverWhat) {
  NestBuilder n = softmax(3, 5);
  const auto maximum = 1, difference = 2;
  EXPECT_TRUE(varies(n.nest, maximum, 0));
  EXPECT_FALSE(varies(n.nest, maximum, 1));
  EXPECT_TRUE(varies(n.nest, difference, 1));
}

TEST(LoopNest, VerifyNamesTheBrokenPart) {
  auto message = [](auto change) {
    NestBuilder n = softmax(3, 5);
    verify(n.nest);
    change(n.nest);
    return std::string(thrown_by([&] { verify(n.nest); }).what());
  };
  auto expect = [&](auto change, const char* part) {
    EXPECT_NE(message(change).find(part), std::string::npos) << message(change);
  };
  expect([](LoopNest& n) { n.exprs[2].args[1] = 2; }, "expression 2: operands before it");
  expect([](LoopNest& n) { n.exprs[2].args.pop_back(); }, "expression 2: the operands of its op");
  expect([](LoopNest& n) { n.exprs[0].source = 9; }, "expression 0: an access to load");
  expect([](LoopNest& n) { n.exprs[0].dtype = DType::i32; }, "expression 0: the type of its access");
  expect([](LoopNest& n) { n.accesses[1].strides.pop_back(); }, "access 1: one stride per axis");
  expect([](LoopNest& n) { n.accesses[1].strides[0] = Size::of(0); }, "store 0: an element of its own");
  expect([](LoopNest& n) { n.accesses[1].strides[1] = Size::of(0); }, "store 0: one value for each element");
  expect([](LoopNest& n) { n.axes[0].reduced = true, n.axes[1].reduced = false; },
         "reduced axes after parallel");
  expect([](LoopNest& n) { n.vector_axis = 7; }, "vector axis 7: an axis");
}

TEST(Schedule, SoftmaxKeepsItsExponentialsForTheLastWalk) {
  NestBuilder n = softmax(3, 100);
  const Walks walks = plan_walks(n.nest);
  EXPECT_EQ(walks.count, 3);
  EXPECT_EQ(walks.kept, (std::vector<Walks::Kept>{{3, 1}}));
  EXPECT_EQ(scratch_bytes(n.nest, nullptr), 112 * 4);
}

TEST(Schedule, CheapExpressionsAreComputedAgain) {
  NestBuilder n({3}, {100});
  const auto x = n.load(DType::f32, {100, 1});
  const auto centred = n.op(Op::Sub, {x, n.reduce(Op::ReduceSum, x)});
  const auto square = n.reduce(Op::ReduceSum, n.op(Op::Mul, {centred, centred}));
  n.store(DType::f32, {100, 1}, n.op(Op::Mul, {centred, square}));
  const Walks walks = plan_walks(n.nest);
  EXPECT_EQ(walks.count, 3);
  EXPECT_TRUE(walks.kept.empty());
  EXPECT_EQ(scratch_bytes(n.nest, nullptr), 0);
}

TEST(Schedule, ARowThatNeedsNoReductionOfTheLastWalkIsStoredInIt) {
  NestBuilder n({3}, {100});
  const auto x = n.op(Op::Exp, {n.load(DType::f32, {100, 1})});
  n.store(DType::f32, {100, 1}, x);
  n.store(DType::f32, {1, 0}, n.reduce(Op::ReduceSum, x));
  EXPECT_EQ(plan_walks(n.nest).count, 1);
}

TEST(Interpret, SoftmaxOfRows) {
  NestBuilder n = softmax(2, 3);
  std::vector<float> x = {1, 2, 3, -1, 0, 100}, y(6, -1);
  std::byte* memory[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
  interpret(n.nest, {.memory = memory, .begin = 1, .end = 2});
  EXPECT_EQ(y[0], -1) << "row 0 was not asked for";
  interpret(n.nest, {.memory = memory, .begin = 0, .end = 1});
  const double sum = std::exp(-2.0) + std::exp(-1.0) + 1;
  EXPECT_NEAR(y[0], std::exp(-2.0) / sum, 1e-7);
  EXPECT_NEAR(y[2], 1 / sum, 1e-7);
  EXPECT_EQ(y[5], 1);
}

// 1 + 2^-12 squared is 1 + 2^-11 + 2^-24, whose last part a product alone would lose.
TEST(Interpret, AnFmaIsRoundedOnce) {
  NestBuilder n({1}, {});
  const auto x = n.load(DType::f32, {1});
  n.store(DType::f32, {1}, n.fma(x, x, n.real(-1 - 0x1p-11)));
  float in = 1 + 0x1p-12f, out = 0;
  std::byte* memory[] = {reinterpret_cast<std::byte*>(&in), reinterpret_cast<std::byte*>(&out)};
  interpret(n.nest, {.memory = memory, .begin = 0, .end = 1});
  EXPECT_EQ(out, 0x1p-24f);
}

TEST(LoopNest, AnFmaTakesThreeNumbersOfF32) {
  NestBuilder n({4}, {});
  const auto x = n.load(DType::f32, {1});
  n.store(DType::f32, {1}, n.fma(x, x, x));
  verify(n.nest);
  EXPECT_NE(to_string(n.nest).find("1 = f32 fma(0, 0, 0)"), std::string::npos);
  n.nest.exprs[1].args.pop_back();
  EXPECT_THROW(verify(n.nest), Error);
  n.nest.exprs[1].args = {0, 0, 0};
  n.nest.exprs[0].dtype = n.nest.accesses[0].dtype = DType::i32;
  EXPECT_THROW(verify(n.nest), Error);
}

TEST(Interpret, AnEmptyReducedAxisGivesTheIdentity) {
  NestBuilder n({2}, {0});
  const auto x = n.load(DType::i8, {0, 1});
  n.store(DType::i8, {1, 0}, n.reduce(Op::ReduceMax, x));
  std::vector<int8_t> out(2);
  std::byte* memory[] = {nullptr, reinterpret_cast<std::byte*>(out.data())};
  interpret(n.nest, {.memory = memory, .begin = 0, .end = 2});
  EXPECT_EQ(out, (std::vector<int8_t>{-128, -128}));
}

}  // namespace
}  // namespace ingot::kernel
