#include "device/cpu/nest_stand_in.h"

#include <gtest/gtest.h>

namespace ingot::cpu {
namespace {

using kernel::LoopNest;
using kernel::Size;
using Sizes = std::vector<int64_t>;

// y = relu(x) over axes of given extents; size i is the extent of axis i, further sizes are strides.
LoopNest pointwise(int rank, const std::vector<Size>& x, const std::vector<Size>& y) {
  LoopNest nest;
  for (int i = 0; i < rank; ++i) nest.axes.push_back({Size::given(i), false});
  nest.accesses = {{DType::f32, x}, {DType::f32, y}};
  nest.exprs = {{.kind = kernel::ExprKind::load, .dtype = DType::f32, .args = {}, .source = 0},
                {.kind = kernel::ExprKind::op, .op = Op::Relu, .dtype = DType::f32, .args = {0}}};
  nest.stores = {{1, 1}};
  nest.vector_axis = rank - 1;
  return nest;
}

// Sums of rows, vectors along `vector_axis`.
LoopNest sums(const std::vector<kernel::Axis>& axes, int vector_axis, const std::vector<Size>& x,
              const std::vector<Size>& y) {
  LoopNest nest{
      .axes = axes,
      .accesses = {{DType::f32, x}, {DType::f32, y}},
      .exprs = {{.kind = kernel::ExprKind::load, .dtype = DType::f32, .args = {}, .source = 0},
                {.kind = kernel::ExprKind::reduce, .op = Op::ReduceSum, .dtype = DType::f32, .args = {0}}},
      .stores = {{1, 1}},
      .vector_axis = vector_axis};
  return nest;
}

const Size kZero = Size::of(0), kNext = Size::of(1);
Size given(int i) { return Size::given(i); }

// [rows][columns] with a stride from row to row, and [columns] alone, which is what is left of one row.
const LoopNest kRows = pointwise(2, {given(2), kNext}, {given(3), kNext});
const LoopNest kOneRow = pointwise(1, {kNext}, {kNext});

TEST(NestStandIn, AnAxisOfOneElementIsPutIn) {
  EXPECT_EQ(stand_in_sizes(kOneRow, {100}, kRows, true), (Sizes{1, 100, 0, 0}));
}

// One row of a hundred, or a hundred rows of one.
TEST(NestStandIn, LanesMayLieElsewhereWhereNothingIsSummed) {
  const LoopNest other = pointwise(2, {given(2), kNext}, {given(3), kNext});
  const LoopNest strided = pointwise(1, {given(1)}, {given(2)});
  EXPECT_EQ(stand_in_sizes(strided, {100, 7, 9}, other, true), std::nullopt);
  EXPECT_EQ(stand_in_sizes(strided, {100, 7, 9}, other, false), (Sizes{100, 1, 7, 9}));
}

TEST(NestStandIn, ANestStandsInForItself) {
  EXPECT_EQ(stand_in_sizes(kRows, {3, 100, 128, 100}, kRows, true), (Sizes{3, 100, 128, 100}));
}

TEST(NestStandIn, AnAxisOfSeveralElementsIsNotLeftOut) {
  EXPECT_EQ(stand_in_sizes(kRows, {3, 100, 128, 100}, kOneRow, true), std::nullopt);
  EXPECT_EQ(stand_in_sizes(kRows, {1, 100, 128, 100}, kOneRow, true), (Sizes{100}));
}

TEST(NestStandIn, AKnownStrideMustBeThatOfTheOther) {
  const LoopNest broadcast = pointwise(1, {kZero}, {kNext}), strided = pointwise(1, {given(1)}, {kNext});
  EXPECT_EQ(stand_in_sizes(broadcast, {100}, kOneRow, true), std::nullopt);
  EXPECT_EQ(stand_in_sizes(broadcast, {100}, strided, true), (Sizes{100, 0}));
  EXPECT_EQ(stand_in_sizes(strided, {100, 7}, kOneRow, true), std::nullopt);
}

TEST(NestStandIn, AnotherExpressionOrTypeIsAnotherKernel) {
  LoopNest other = kRows;
  other.exprs[1].op = Op::Abs;
  EXPECT_EQ(stand_in_sizes(kOneRow, {100}, other, true), std::nullopt);
  other = kRows;
  other.accesses[0].dtype = DType::f16;
  EXPECT_EQ(stand_in_sizes(kOneRow, {100}, other, true), std::nullopt);
}

// Positions are counted along an axis by its number.
TEST(NestStandIn, NestsThatReadPositionsStandAlone) {
  LoopNest wanted = kOneRow, other = kRows;
  for (LoopNest* nest : {&wanted, &other})
    nest->exprs[0] = {.kind = kernel::ExprKind::index, .dtype = DType::i64, .args = {}, .source = 0};
  EXPECT_EQ(stand_in_sizes(wanted, {100}, other, true), std::nullopt);
}

// Otherwise sums would be made in another order.
TEST(NestStandIn, LanesOfAReductionLieAlongTheSameAxis) {
  const std::vector<kernel::Axis> rows = {{given(0), false}, {given(1), true}};
  const std::vector<kernel::Axis> one = {{Size::of(1), false}, {given(0), true}};
  const LoopNest by_row = sums(rows, 1, {given(2), kNext}, {kNext, kZero});
  const LoopNest by_column = sums(rows, 0, {given(2), kNext}, {kNext, kZero});
  const LoopNest wanted = sums(one, 1, {kZero, kNext}, {kZero, kZero});
  EXPECT_EQ(stand_in_sizes(wanted, {9}, by_row, true), (Sizes{1, 9, 0}));
  EXPECT_EQ(stand_in_sizes(wanted, {9}, by_column, true), std::nullopt);
}

}  // namespace
}  // namespace ingot::cpu
