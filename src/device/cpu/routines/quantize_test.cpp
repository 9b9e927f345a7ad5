#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/routines/routine_testing.h"

namespace ingot::cpu::testing {
namespace {

Tensor positive(const Shape& shape, unsigned seed) {
  Tensor t = random(DType::f32, shape, seed);
  for (float& v : t.mutable_data<float>()) v = std::fabs(v) / 100 + 0.003f;
  return t;
}

// Where one scale and zero point hold for everything, a slice, or a block.
struct Granularity {
  Shape scale;
  int64_t axis, block;
};
const Granularity kGranularities[] = {{{}, 1, 0},        {{1}, 1, 0},        {{5}, 1, 0},       {{21}, -1, 0},
                                      {{3, 5, 6}, 2, 4}, {{2, 5, 21}, 0, 2}, {{3, 3, 21}, 1, 2}};

TEST(QuantizeRoutinesTest, QuantizeToEveryType) {
  const Tensor x = random(DType::f32, {3, 5, 21});
  for (DType to : {DType::u8, DType::i8, DType::u16, DType::i16})
    for (const Granularity& g : kGranularities) {
      const QuantizeAttrs a{.to = to, .axis = g.axis, .block_size = g.block};
      expect_like_reference(a, {x, positive(g.scale, 2), random(to, g.scale, 3)});
      expect_like_reference(a, {x, positive(g.scale, 2)});
    }
}

TEST(QuantizeRoutinesTest, DequantizeFromEveryType) {
  for (DType from : {DType::u8, DType::i8, DType::u16, DType::i16, DType::i32})
    for (const Granularity& g : kGranularities)
      expect_like_reference(DequantizeAttrs{.axis = g.axis, .block_size = g.block},
                            {random(from, {3, 5, 21}), positive(g.scale, 2), random(from, g.scale, 3)});
}

TEST(QuantizeRoutinesTest, OneZeroPointServesAllScales) {
  expect_like_reference(QuantizeAttrs{.axis = 1}, {random(DType::f32, {2, 5}), positive({5}, 2),
                                                   Tensor::of({}, std::vector<uint8_t>{9})});
}

TEST(QuantizeRoutinesTest, TiesGoToEvenAndWhatIsTooLargeSaturates) {
  const Tensor x = Tensor::of({12}, std::vector<float>{0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 1e30f, -1e30f,
                                                       INFINITY, -INFINITY, NAN, 126.5f, -128.5f});
  for (DType to : {DType::u8, DType::i8, DType::i16})
    expect_like_reference(QuantizeAttrs{.to = to}, {x, Tensor::of({}, std::vector<float>{1})});
}

TEST(QuantizeRoutinesTest, DynamicQuantizeFindsTheRange) {
  expect_like_reference(DynamicQuantizeAttrs{}, {random(DType::f32, {3, 5, 7})}, {}, 3);
  expect_like_reference(DynamicQuantizeAttrs{}, {random(DType::f32, {70, 301})}, {}, 3);
  expect_like_reference(DynamicQuantizeAttrs{}, {random(DType::f32, {})}, {}, 3);
  expect_like_reference(DynamicQuantizeAttrs{}, {positive({40}, 1)}, {}, 3);
  expect_like_reference(DynamicQuantizeAttrs{}, {Tensor::allocate(DType::f32, {33})}, {}, 3);
}

TEST(QuantizeRoutinesTest, DynamicQuantizeOfNan) {
  Tensor x = random(DType::f32, {3, 40});
  x.mutable_data<float>()[17] = NAN;
  expect_like_reference(DynamicQuantizeAttrs{}, {x}, {}, 3);
}

}  // namespace
}  // namespace ingot::cpu::testing
