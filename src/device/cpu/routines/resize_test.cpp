#include <gtest/gtest.h>

#include "device/cpu/routines/routine_testing.h"

namespace ingot::cpu::testing {
namespace {

constexpr RunOptions kClose = {.tolerance = 2e-6};

Tensor floats(const std::vector<float>& values) {
  return Tensor::of({static_cast<int64_t>(values.size())}, values);
}

TEST(ResizeRoutinesTest, NearestMovesEveryWidth) {
  for (DType dtype : {DType::u8, DType::bf16, DType::f32, DType::i64})
    for (ResizeNearest rounding : {ResizeNearest::floor, ResizeNearest::round_prefer_ceil}) {
      expect_like_reference(ResizeAttrs{.nearest = rounding, .scales = {1, 1, 2, 2}},
                            {random(dtype, {2, 3, 4, 5})});
      expect_like_reference(ResizeAttrs{.nearest = rounding},
                            {random(dtype, {1, 4, 30, 3}), Datum(), Datum(), ints({1, 7, 41, 3})});
    }
}

TEST(ResizeRoutinesTest, LinearAndCubicUpAndDown) {
  for (ResizeMode mode : {ResizeMode::linear, ResizeMode::cubic})
    for (ResizeCoordinates coordinates :
         {ResizeCoordinates::half_pixel, ResizeCoordinates::align_corners, ResizeCoordinates::asymmetric})
      for (bool antialias : {false, true}) {
        ResizeAttrs a{.mode = mode, .coordinates = coordinates, .antialias = antialias};
        a.exclude_outside = antialias;
        expect_like_reference(a, {random(DType::f32, {2, 3, 9, 6}), Datum(), Datum(), ints({2, 3, 4, 13})},
                              kClose);
        a.axes = {2, 1};  // channels last
        a.scales = {1.6, 0.7};
        expect_like_reference(a, {random(DType::f32, {1, 9, 7, 20})}, kClose);
      }
}

TEST(ResizeRoutinesTest, ScalesAndRegionsAtRunTime) {
  ResizeAttrs a{.mode = ResizeMode::linear, .coordinates = ResizeCoordinates::tf_crop_and_resize};
  a.axes = {1, 2};
  a.extrapolation = 7;
  for (ResizeMode mode : {ResizeMode::nearest, ResizeMode::linear, ResizeMode::cubic}) {
    a.mode = mode;
    expect_like_reference(
        a, {random(DType::f32, {2, 6, 8}), floats({0.2f, -0.3f, 0.9f, 1.2f}), floats({1.5f, 2})}, kClose);
  }
}

TEST(ResizeRoutinesTest, AResizeToTheSameSizeIsACopy) {
  const Tensor x = random(DType::f32, {2, 3, 4});
  expect_like_reference(ResizeAttrs{.mode = ResizeMode::linear, .scales = {1, 1, 1}}, {x});
  expect_like_reference(ResizeAttrs{.scales = {1, 1, 1}}, {x});
}

TEST(ResizeRoutinesTest, AnInfiniteElementStaysInfinite) {
  Tensor x = random(DType::f32, {1, 1, 3, 3});
  x.mutable_data<float>()[4] = INFINITY;
  for (ResizeMode mode : {ResizeMode::linear, ResizeMode::cubic})
    expect_like_reference(
        ResizeAttrs{.mode = mode, .coordinates = ResizeCoordinates::asymmetric, .scales = {1, 1, 2, 2}}, {x},
        kClose);
}

}  // namespace
}  // namespace ingot::cpu::testing
