#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/routines/routine_testing.h"

namespace ingot::cpu::testing {
namespace {

TEST(PoolRoutinesTest, MaxPoolWithIndices) {
  for (DType dtype : {DType::f32, DType::f64, DType::i8, DType::u8})
    for (bool by_column : {false, true}) {
      MaxPoolAttrs a{.kernel = {3, 2}, .strides = {2, 1}, .pads = {1, 0, 1, 1}};
      a.column_major_indices = by_column;
      expect_like_reference(a, {random(dtype, {2, 3, 7, 6})}, {}, 2);
      expect_like_reference(a, {random(dtype, {2, 3, 7, 6})}, {.unread = 0}, 2);
      a.dilations = {2, 3};
      a.ceil_mode = true;
      expect_like_reference(a, {random(dtype, {1, 2, 9, 8})}, {}, 2);
    }
  expect_like_reference(MaxPoolAttrs{.kernel = {3}, .auto_pad = AutoPad::same_upper},
                        {random(DType::f32, {1, 2, 700})}, {}, 2);
  expect_like_reference(MaxPoolAttrs{.kernel = {2, 2, 2}, .strides = {2, 1, 2}},
                        {random(DType::f32, {1, 2, 4, 3, 5})}, {}, 2);
}

TEST(PoolRoutinesTest, TheFirstNanIsTheLargest) {
  Tensor x = random(DType::f32, {1, 1, 4, 4});
  for (size_t i : {2, 5, 6}) x.mutable_data<float>()[i] = NAN;
  expect_like_reference(MaxPoolAttrs{.kernel = {2, 2}}, {x}, {}, 2);
}

TEST(PoolRoutinesTest, LpPool) {
  for (double p : {1.0, 2.0, 3.0})
    expect_like_reference(LpPoolAttrs{.kernel = {3, 2}, .strides = {1, 2}, .pads = {0, 1, 2, 0}, .p = p},
                          {random(DType::f32, {2, 3, 6, 5})}, {.tolerance = 1e-6});
}

}  // namespace
}  // namespace ingot::cpu::testing
