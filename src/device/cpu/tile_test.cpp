// Tiles and their drivers together.
#include "support/layers_by_tiles.h"

namespace ingot::cpu {
namespace {

TEST(Tile, MultipliesMatricesOfRaggedSizes) {
  for (const int64_t rows : {1, 2, 3, 5, 7, 13, 40})
    for (const int64_t columns : {1, 5, 16, 31, 33, 64, 80, 100})
      for (const int64_t depth : {1, 3, 4, 17, 64}) {
        SCOPED_TRACE(fmt::format("{} x {} x {}", rows, depth, columns));
        expect_layer({.w = rows, .channels = depth, .columns = columns});
      }
}

TEST(Tile, CutsLongDepthsAndManyPanels) {
  expect_layer({.w = 50, .channels = 4700, .columns = 130});
  expect_layer({.w = 700, .channels = 70, .columns = 700});
  expect_layer({.h = 7, .w = 7, .channels = 512, .columns = 64, .kh = 3, .kw = 3, .pad = 1});
  expect_layer({.h = 5, .w = 9, .channels = 3000, .columns = 48, .kh = 1, .kw = 3, .pad = 1});
}

TEST(Tile, Convolves) {
  expect_layer({.n = 2, .h = 9, .w = 11, .channels = 5, .columns = 24, .kh = 3, .kw = 3, .pad = 1});
  expect_layer({.h = 14, .w = 15, .channels = 16, .columns = 40, .kh = 3, .kw = 3, .stride = 2, .pad = 1});
  expect_layer({.h = 12, .w = 12, .channels = 8, .columns = 16, .kh = 3, .kw = 2, .dilation = 3, .pad = 4});
  expect_layer({.h = 20, .w = 20, .channels = 3, .columns = 16, .kh = 9, .kw = 9, .pad = 4});
  expect_layer({.h = 6, .w = 7, .channels = 6, .groups = 3, .columns = 10, .kh = 3, .kw = 3, .pad = 1});
  expect_layer({.h = 8, .w = 8, .channels = 32, .columns = 64, .stride = 2});
}

TEST(Tile, ReadsMatricesAsTheyAre) {
  for (const int64_t rows : {1, 6, 31})
    for (const int64_t columns : {16, 33, 64, 100})
      expect_layer({.w = rows, .channels = 37, .columns = columns, .packed = false});
  expect_layer({.w = 40, .channels = 4000, .columns = 90, .packed = false});
}

TEST(Tile, WidensHalfWeights) {
  for (const auto dtype : {DType::f16, DType::bf16}) {
    expect_layer({.b = dtype, .w = 13, .channels = 35, .columns = 70});
    expect_layer({.b = dtype, .w = 1, .channels = 128, .columns = 64});
    expect_layer(
        {.b = dtype, .h = 6, .w = 7, .channels = 6, .groups = 3, .columns = 10, .kh = 3, .kw = 3, .pad = 1});
  }
}

TEST(Tile, MultipliesBytesExactly) {
  for (const auto a : {DType::u8, DType::i8}) {
    const auto expect = [&](Layer layer) {
      layer.a = a;
      layer.b = DType::i8;
      expect_layer(layer);
    };
    for (const int64_t rows : {1, 2, 7, 16, 30})
      for (const int64_t columns : {1, 16, 40, 64, 100})
        for (const int64_t depth : {4, 12, 64, 100, 260})
          expect({.w = rows, .channels = depth, .columns = columns});
    expect({.w = 30, .channels = 8000, .columns = 80});
    expect({.h = 9, .w = 11, .channels = 16, .columns = 24, .kh = 3, .kw = 3, .pad = 1});
    expect({.h = 9, .w = 9, .channels = 132, .columns = 20, .kh = 3, .kw = 3, .stride = 2, .dilation = 2});
  }
}

TEST(Tile, SumsOfExtremeBytesDoNotSaturate) {
  for (const auto a : {DType::u8, DType::i8}) {
    const Layer layer{.a = a, .b = DType::i8, .w = 9, .channels = 64, .columns = 40};
    Data data(layer);
    for (float& value : data.a) value = a == DType::u8 ? 255 : -128;
    for (size_t i = 0; i < data.weights.size(); ++i) data.weights[i] = i / 64 % 2 != 0 ? -128 : 127;
    expect_layer(layer, data);
  }
}

// A kernel that takes plain b for packed reads other rows of it.
TEST(TileChoice, KernelsReadBAsTheTypesSay) {
  for (const bool packed : {true, false}) {
    TileTypes types;
    types.packed = packed;
    for (const auto& kernel : tile_kernels(types, {.rows = 4, .vectors = 2}, {}, {3, 4}))
      EXPECT_EQ(kernel.packed, packed);
  }
}

}  // namespace
}  // namespace ingot::cpu
