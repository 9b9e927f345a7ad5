#include <gtest/gtest.h>

#include "device/cpu/routines/routine_testing.h"

namespace ingot::cpu::testing {
namespace {

TEST(PadRoutinesTest, EveryModeAddsAndCuts) {
  const Tensor value = Tensor::of({}, std::vector<float>{2.5f}), x = random(DType::f32, {2, 3, 5});
  for (PadMode mode : {PadMode::constant, PadMode::edge, PadMode::reflect, PadMode::wrap}) {
    expect_like_reference(PadAttrs{.mode = mode}, {x, ints({0, 1, 2, 1, 0, 40})});
    expect_like_reference(PadAttrs{.mode = mode}, {x, ints({-1, -2, 9, 3, 5, -3}), value});
    expect_like_reference(PadAttrs{.mode = mode}, {x, ints({3, 1}), Datum(), ints({-1})});
  }
  expect_like_reference(PadAttrs{}, {random(DType::i8, {0, 2}), ints({1, 1, 1, 1})});
  expect_like_reference(PadAttrs{}, {random(DType::i64, {}), ints({})});
}

TEST(PadRoutinesTest, Tile) {
  for (DType dtype : {DType::boolean, DType::f16, DType::f32, DType::f64}) {
    expect_like_reference(TileAttrs{}, {random(dtype, {2, 1, 3}), ints({2, 4, 3})});
    expect_like_reference(TileAttrs{}, {random(dtype, {5}), ints({40})});
    expect_like_reference(TileAttrs{}, {random(dtype, {2, 3}), ints({0, 2})});
  }
}

}  // namespace
}  // namespace ingot::cpu::testing
