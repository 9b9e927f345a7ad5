#include <gtest/gtest.h>

#include "ingot/error.h"
#include "ingot/graph.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

class MovementRules : public testing::Test {
 protected:
  Dim n = Dim::symbol("n");
  GraphBuilder g;
  Value x = g.input("x", Type::tensor(DType::f32, {n, 6}));
  Value unknown = g.input("u", Type::unranked(DType::f32));
  Value at_run_time = g.input("r", Type::tensor(DType::i64, {1}));

  Value ints(std::vector<int64_t> v) { return int_list(g, v); }
  Value slice(int64_t start, int64_t end, int64_t axis, int64_t step = 1) {
    return g.slice(x, ints({start}), ints({end}), ints({axis}), ints({step}));
  }
  std::string type(Value v) { return to_string(g.type(v)); }
};

TEST_F(MovementRules, SliceOfConstantSizeIsNumPys) {
  EXPECT_EQ(type(slice(1, 100, 1)), "f32[n, 5]");
  EXPECT_EQ(type(slice(-2, INT64_MAX, 1)), "f32[n, 2]");
  EXPECT_EQ(type(slice(4, 2, 1)), "f32[n, 0]");
  EXPECT_EQ(type(slice(-1, INT64_MIN, 1, -2)), "f32[n, 3]");
  EXPECT_EQ(type(slice(INT64_MIN, INT64_MAX, 1, INT64_MAX)), "f32[n, 1]");
  EXPECT_EQ(type(slice(INT64_MAX, INT64_MIN, -1, INT64_MIN)), "f32[n, 1]");
  EXPECT_EQ(type(slice(9, 0, 1, -1)), "f32[n, 5]");
}

TEST_F(MovementRules, SliceOfAnEmptyAxisIsEmpty) {
  Value empty = g.input("e", Type::tensor(DType::f32, {0}));
  for (int64_t start : {int64_t{0}, int64_t{-1}, int64_t{-5}, int64_t{3}})
    for (int64_t step : {1, -1})
      EXPECT_EQ(
          type(g.slice(empty, ints({start}), ints({step > 0 ? INT64_MAX : INT64_MIN}), {}, ints({step}))),
          "f32[0]");
}

TEST_F(MovementRules, SliceOfSymbolicSize) {
  EXPECT_EQ(type(slice(0, INT64_MAX, 0)), "f32[n, 6]");
  EXPECT_EQ(type(slice(0, INT64_MAX, 0, 2)), "f32[floordiv(n + 1, 2), 6]");
  EXPECT_EQ(type(slice(-1, INT64_MIN, 0, -1)), "f32[n, 6]");
  EXPECT_EQ(type(slice(0, 1, 0)), "f32[min(n, 1), 6]");
  Value by_run_time = g.slice(x, ints({0}), at_run_time, ints({0}), {});
  EXPECT_EQ(g.dims(by_run_time).at(1), Dim(6));
  EXPECT_FALSE(g.dims(by_run_time).at(0).is_constant());
}

TEST_F(MovementRules, WhatIsWrongIsNamed) {
  EXPECT_THROW(slice(0, 1, 2), Error);
  EXPECT_THROW(slice(0, 1, 0, 0), Error);
  EXPECT_THROW(g.slice(x, ints({0, 0, 0}), ints({1, 1, 1}), {}, {}), Error);
  EXPECT_THROW(g.slice(x, ints({0, 0}), ints({1}), {}, {}), Error);
  EXPECT_THROW(g.pad(x, ints({1, 1}), {}, {}), Error);
  EXPECT_THROW(g.pad(x, ints({0, -4, 0, -4}), {}, {}), Error);
  EXPECT_THROW(g.tile(x, ints({2})), Error);
  EXPECT_THROW(g.squeeze(x, ints({1})), Error);
  EXPECT_THROW(g.broadcast_to(x, ints({7})), Error);
  EXPECT_THROW(g.split(x, ints({2, 3}), 2, {.axis = 1}), Error);
  EXPECT_THROW(g.gather(x, ints({0}), {.axis = 2}), Error);
}

TEST_F(MovementRules, PartsOfASplit) {
  auto parts = g.split(x, {}, 4, {.axis = 1});
  EXPECT_EQ(type(parts[0]), "f32[n, 2]");
  EXPECT_EQ(type(parts[2]), "f32[n, 2]");
  EXPECT_EQ(type(parts[3]), "f32[n, 0]");
  auto sized = g.split(x, ints({1, 5}), 2, {.axis = -1});
  EXPECT_EQ(type(sized[1]), "f32[n, 5]");
}

TEST_F(MovementRules, AxesKnownOnlyAtRunTime) {
  EXPECT_EQ(g.rank(g.unsqueeze(x, at_run_time)), 3);
  EXPECT_EQ(type(g.squeeze(x, at_run_time)), "f32[*]");
  EXPECT_EQ(g.rank(g.reduce_sum(x, at_run_time)), 2);
  EXPECT_EQ(g.rank(g.reduce_sum(x, at_run_time, {.keep_dims = false})), 1);
  EXPECT_EQ(type(g.gather(unknown, at_run_time)), "f32[*]");
  EXPECT_EQ(type(g.reduce_sum(unknown, {}, {.keep_dims = false})), "f32[]");
}

TEST_F(MovementRules, GatherAndReduceShapes) {
  EXPECT_EQ(type(g.gather(x, g.input("i", Type::tensor(DType::i32, {4, n})), {.axis = 1})), "f32[n, 4, n]");
  EXPECT_EQ(type(g.gather_nd(x, g.input("j", Type::tensor(DType::i64, {5, 2})))), "f32[5]");
  EXPECT_EQ(type(g.reduce_mean(x, ints({-1}), {.keep_dims = false})), "f32[n]");
  EXPECT_EQ(type(g.arg_max(x, {.axis = 1})), "i64[n, 1]");
  EXPECT_EQ(type(g.pad(x, ints({1, 0, 2, -1}), {}, {})), "f32[n + 3, 5]");
}

}  // namespace
}  // namespace ingot
