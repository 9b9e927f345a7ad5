#include <gtest/gtest.h>

#include "ingot/graph.h"
#include "ir/small_constants.h"

// Exporters write shape arithmetic as chains of small integer ops. Symbolic sizes must come out of them.
namespace ingot {
namespace {

class ShapeValues : public testing::Test {
 protected:
  Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  GraphBuilder g;
  Value x = g.input("x", Type::tensor(DType::f32, {n, 3, m, 8}));
  Value shape = g.shape_of(x);

  Value ints(std::vector<int64_t> v) { return int_list(g, v); }
  Value one(int64_t v) { return scalar(g, DType::i64, static_cast<double>(v)); }
  std::string known(Value v) {
    auto values = g.known_values(v);
    return values ? to_string(*values) : "unknown";
  }
};

TEST_F(ShapeValues, GatherUnsqueezeConcatReshape) {
  Value batch = g.unsqueeze(g.gather(shape, one(0)), ints({0}));
  Value last = g.unsqueeze(g.gather(shape, one(-1)), ints({0}));
  Value y = g.reshape(x, g.concat({batch, ints({-1}), last}));
  EXPECT_EQ(to_string(g.type(y)), "f32[n, 3*m, 8]");
}

TEST_F(ShapeValues, SliceConcatExpand) {
  Value tail = g.slice(shape, ints({2}), ints({INT64_MAX}), ints({0}), {});
  Value y = g.broadcast_to(g.input("b", Type::tensor(DType::f32, {1, 1})), g.concat({ints({5}), tail}));
  EXPECT_EQ(to_string(g.type(y)), "f32[5, m, 8]");
  EXPECT_EQ(known(g.slice(shape, ints({-1}), ints({INT64_MIN}), ints({0}), ints({-2}))), "[8, 3]");
}

TEST_F(ShapeValues, Folds) {
  EXPECT_EQ(known(g.reduce_prod(shape, {}, {.keep_dims = false})), "[24*m*n]");
  EXPECT_EQ(known(g.reduce_sum(shape, ints({0}))), "[m + n + 11]");
  EXPECT_EQ(known(g.reduce_max(ints({3, 9, 4}), ints({0}))), "[9]");
  EXPECT_EQ(known(g.reduce_min(ints({3, 9, 4}), ints({0}))), "[3]");
  EXPECT_EQ(known(g.reduce_prod(ints({}), {})), "[1]");
  EXPECT_EQ(known(g.reduce_sum(shape, ints({}), {.keep_if_no_axes = true})), "[n, 3, m, 8]");
}

TEST_F(ShapeValues, OneValueMeetsNone) {
  EXPECT_EQ(known(g.sub(ints({}), ints({7}))), "[]");
  EXPECT_EQ(known(g.max(one(7), ints({}))), "[]");
  EXPECT_EQ(known(g.select(g.equal(ints({}), one(1)), ints({2}), ints({3}))), "[]");
}

TEST_F(ShapeValues, RepeatsAndRanges) {
  EXPECT_EQ(known(g.broadcast_to(one(7), ints({3}))), "[7, 7, 7]");
  EXPECT_EQ(known(g.tile(ints({1, 2}), ints({2}))), "[1, 2, 1, 2]");
  EXPECT_EQ(known(g.range(one(1), one(6), one(2))), "[1, 3, 5]");
  Value positions = g.range(one(0), g.gather(shape, one(2)), one(1));
  EXPECT_EQ(to_string(g.type(positions)), "i64[m]");
  EXPECT_EQ(known(positions), "unknown");
}

TEST_F(ShapeValues, ComparisonsAndSelections) {
  Value wanted = g.concat({ints({-1, 1, 5}), ints({8})});
  Value is_free = g.equal(wanted, one(-1));
  EXPECT_EQ(known(is_free), "[1, 0, 0, 0]");
  EXPECT_EQ(known(g.select(is_free, shape, wanted)), "[n, 1, 5, 8]");
  EXPECT_EQ(known(g.equal(shape, one(-1))), "[0, 0, 0, 0]");
  EXPECT_EQ(known(g.less(one(-1), shape)), "[1, 1, 1, 1]");
  EXPECT_EQ(known(g.equal(shape, one(3))), "unknown");
  EXPECT_EQ(known(g.cast(ints({0, 7}), {.to = DType::boolean})), "[0, 1]");
}

TEST_F(ShapeValues, RemaindersAndSigns) {
  EXPECT_EQ(known(g.mod(shape, one(4))), "[mod(n, 4), 3, mod(m, 4), 0]");
  EXPECT_EQ(known(g.neg(shape)), "[-n, -3, -m, -8]");
  EXPECT_EQ(known(g.mod(ints({-3}), one(4))), "unknown");
}

TEST_F(ShapeValues, NumbersBeyondSizesStayUnknown) {
  Value big = ints({INT64_MAX});
  EXPECT_EQ(known(g.mul(big, big)), "unknown");
  EXPECT_EQ(known(g.neg(ints({INT64_MIN}))), "unknown");
}

TEST_F(ShapeValues, AValueOutOfReachIsUnknown) {
  EXPECT_EQ(known(g.gather(shape, ints({4}))), "unknown");
  EXPECT_EQ(known(g.gather(g.input("k", Type::tensor(DType::i64, {2})), ints({0}))), "unknown");
}

}  // namespace
}  // namespace ingot
