#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/routines/routine_testing.h"

namespace ingot::cpu::testing {
namespace {

Tensor grid(const Shape& shape) {
  Tensor t = random(DType::f32, shape, 3);
  for (float& v : t.mutable_data<float>()) v *= 0.2f;  // in [-1.6, 1.6)
  return t;
}

TEST(GridSampleRoutineTest, EveryModeLikeReference) {
  for (GridSampleMode mode : {GridSampleMode::nearest, GridSampleMode::linear, GridSampleMode::cubic})
    for (GridSamplePadding padding :
         {GridSamplePadding::zeros, GridSamplePadding::border, GridSamplePadding::reflection})
      for (bool corners : {false, true}) {
        const GridSampleAttrs a{.mode = mode, .padding = padding, .align_corners = corners};
        expect_like_reference(a, {random(DType::f32, {2, 3, 5, 7}), grid({2, 4, 19, 2})});
        if (mode != GridSampleMode::cubic)
          expect_like_reference(a, {random(DType::f32, {1, 2, 4, 3, 5}), grid({1, 2, 3, 4, 3})});
      }
}

// Boxes that overlap here and there, some without area.
Tensor boxes(int64_t batches, int64_t count) {
  Tensor t = random(DType::f32, {batches, count, 4});
  for (float& v : t.mutable_data<float>()) v = std::floor(std::fabs(v) * 2) / 4 + 0.25f;
  return t;
}

Tensor scores(const Shape& shape) {
  Tensor t = random(DType::f32, shape, 2);
  for (float& v : t.mutable_data<float>()) v = std::floor(v);  // with ties
  return t;
}

TEST(NonMaxSuppressionRoutineTest, LikeReference) {
  auto number = [](float v) { return Tensor::of({1}, std::vector<float>{v}); };
  for (bool centred : {false, true}) {
    const NonMaxSuppressionAttrs a{.centred = centred};
    expect_like_reference(a, {boxes(2, 30), scores({2, 3, 30}), ints({4}), number(0.3f), number(-3)});
    expect_like_reference(a, {boxes(1, 50), scores({1, 1, 50}), ints({100})});
    expect_like_reference(a, {boxes(1, 50), scores({1, 2, 50})});
  }
}

TEST(NonMaxSuppressionRoutineTest, AScoreThatIsNoNumberDoesNotCount) {
  Tensor s = scores({1, 1, 20});
  s.mutable_data<float>()[3] = NAN;
  expect_like_reference(NonMaxSuppressionAttrs{}, {boxes(1, 20), s, ints({20})});
}

}  // namespace
}  // namespace ingot::cpu::testing
