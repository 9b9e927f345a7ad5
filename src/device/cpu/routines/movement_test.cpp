#include <gtest/gtest.h>

#include "device/cpu/copy.h"
#include "device/cpu/routines/routine_testing.h"

namespace ingot::cpu::testing {
namespace {

constexpr DType kWidths[] = {DType::u8, DType::f16, DType::f32, DType::i64};

TEST(MovementRoutinesTest, TransposeOfEveryWidth) {
  for (DType dtype : kWidths) {
    expect_like_reference(TransposeAttrs{.permutation = {0, 2, 3, 1}}, {random(dtype, {2, 19, 5, 7})});
    expect_like_reference(TransposeAttrs{.permutation = {0, 3, 1, 2}}, {random(dtype, {2, 5, 7, 19})});
    expect_like_reference(TransposeAttrs{.permutation = {1, 0}}, {random(dtype, {33, 50})});
    expect_like_reference(TransposeAttrs{}, {random(dtype, {3, 4, 5})});
  }
}

TEST(MovementRoutinesTest, LargeTranspositionsAreSharedOut) {
  expect_like_reference(TransposeAttrs{.permutation = {1, 0}}, {random(DType::f32, {300, 517})});
  expect_like_reference(TransposeAttrs{.permutation = {1, 0}}, {random(DType::u8, {70000, 3})});
}

TEST(MovementRoutinesTest, BroadcastTo) {
  expect_like_reference(BroadcastToAttrs{}, {random(DType::f32, {3, 1}), ints({2, 3, 5})});
  expect_like_reference(BroadcastToAttrs{}, {random(DType::u8, {}), ints({4, 70})});
}

TEST(MovementRoutinesTest, ConcatAndSplit) {
  auto piece = [](int64_t n) { return random(DType::f16, {2, n, 3}, static_cast<unsigned>(n)); };
  expect_like_reference(ConcatAttrs{.axis = -2}, {piece(4), piece(0), piece(1)});
  expect_like_reference(SplitAttrs{.axis = 1}, {piece(7), ints({2, 5})}, {}, 2);
}

TEST(MovementRoutinesTest, SliceForwardAndBack) {
  const Tensor x = random(DType::i32, {5, 8, 3});
  constexpr int64_t kFar = INT64_MAX, kBack = INT64_MIN;
  expect_like_reference(SliceAttrs{}, {x, ints({1, -3}), ints({kFar, -1}), Datum(), ints({2, 1})});
  expect_like_reference(SliceAttrs{},
                        {x, ints({-1, kFar}), ints({kBack, kBack}), ints({1, 0}), ints({-3, -1})});
  expect_like_reference(SliceAttrs{}, {x, ints({2}), ints({kFar}), ints({-1}), ints({kFar})});
  expect_like_reference(SliceAttrs{}, {x, ints({7}), ints({2}), ints({1})});
}

TEST(MovementRoutinesTest, ReshapeKeepsTheOrderOfElements) {
  const Tensor x = random(DType::f32, {4, 6});
  const Node node{Op::Reshape, {}, ReshapeAttrs{}, {}, std::vector<Type>(1), ""};
  const std::vector<Datum> operands = {x, ints({3, 8})}, expected = {x.reshaped({3, 8})};
  for (Layout layout : kLayouts) {
    expect_results(node, operands, expected, layout, Layout::dense, 2);
    expect_results(node, operands, expected, Layout::dense, layout, 2);
  }
}

TEST(CopyTest, AllPairsOfAxisOrdersAgree) {
  ThreadPool pool(2);
  const Tensor x = random(DType::f32, {20, 3, 34, 18});
  for (Layout in : kLayouts)
    for (Layout out : kLayouts) {
      Placed from(x, in), to(x.dtype(), x.shape(), out);
      copy(from.view(), to.view(), pool);
      expect_close(to.content(), x, 0);
      EXPECT_TRUE(to.rest_untouched());
    }
}

TEST(CopyTest, FillSetsEveryElement) {
  ThreadPool pool(2);
  const Tensor x = Tensor::of({3, 5}, std::vector<int16_t>(15, -7));
  const int16_t seven = -7;
  for (Layout layout : kLayouts) {
    Placed to(x.dtype(), x.shape(), layout);
    fill(reinterpret_cast<const std::byte*>(&seven), to.view(), pool);
    expect_close(to.content(), x, 0);
    EXPECT_TRUE(to.rest_untouched());
  }
}

TEST(CopyTest, NothingIsMovedWhereThereIsNoElement) {
  ThreadPool pool(2);
  View view = dense_view(DType::f32, {4, 0, 3}, nullptr);
  copy(view, view, pool);
}

}  // namespace
}  // namespace ingot::cpu::testing
