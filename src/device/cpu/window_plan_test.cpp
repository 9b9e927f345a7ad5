// Windows without a depth: depthwise convolutions and pooling.
#include "support/layers_by_tiles.h"

namespace ingot::cpu {
namespace {

TEST(Window, ConvolvesDepthwise) {
  for (const int64_t channels : {1, 8, 19, 64, 96, 150})
    expect_layer({.kind = TileKind::depthwise,
                  .n = 2,
                  .h = 7,
                  .w = 9,
                  .channels = channels,
                  .kh = 3,
                  .kw = 3,
                  .pad = 1});
  expect_layer({.kind = TileKind::depthwise,
                .h = 13,
                .w = 12,
                .channels = 40,
                .kh = 5,
                .kw = 5,
                .stride = 2,
                .pad = 2});
}

TEST(Window, SlidesWindows) {
  for (const int64_t w : {3, 7, 14, 23, 40})
    for (const int64_t channels : {16, 33, 48, 100})
      expect_layer(
          {.kind = TileKind::depthwise, .h = 6, .w = w, .channels = channels, .kh = 3, .kw = 3, .pad = 1});
  for (const int64_t kernel : {1, 2, 4, 6, 7})
    expect_layer({.kind = TileKind::depthwise,
                  .n = 2,
                  .h = 11,
                  .w = 19,
                  .channels = 37,
                  .kh = kernel,
                  .kw = kernel,
                  .stride = kernel == 4 ? 3 : 1,
                  .pad = kernel / 2});
  // Dilation, windows that see nothing but padding, taps further apart than the input is long.
  expect_layer({.kind = TileKind::depthwise,
                .h = 9,
                .w = 9,
                .channels = 20,
                .kh = 3,
                .kw = 3,
                .dilation = 2,
                .pad = 2});
  expect_layer({.kind = TileKind::depthwise, .h = 5, .w = 6, .channels = 20, .kh = 3, .kw = 3, .pad = 4});
  expect_layer({.kind = TileKind::depthwise,
                .h = 4,
                .w = 4,
                .channels = 20,
                .kh = 3,
                .kw = 3,
                .dilation = 5,
                .pad = 5});
  expect_layer(
      {.kind = TileKind::max, .h = 5, .w = 6, .channels = 20, .kh = 2, .kw = 2, .stride = 2, .pad = 1});
}

TEST(Window, Pools) {
  for (const auto kind : {TileKind::max, TileKind::sum})
    for (const int64_t channels : {3, 16, 70}) {
      expect_layer({.kind = kind,
                    .n = 2,
                    .h = 9,
                    .w = 10,
                    .channels = channels,
                    .kh = 3,
                    .kw = 3,
                    .stride = 2,
                    .pad = 1});
      expect_layer({.kind = kind, .h = 7, .w = 7, .channels = channels, .kh = 7, .kw = 7});
    }
}

TEST(Window, PoolsBytes) {
  expect_layer({.kind = TileKind::max,
                .a = DType::u8,
                .h = 9,
                .w = 10,
                .channels = 37,
                .kh = 3,
                .kw = 3,
                .stride = 2});
  expect_layer({.kind = TileKind::sum, .a = DType::u8, .h = 7, .w = 7, .channels = 70, .kh = 7, .kw = 7});
}

TEST(Window, LetsNanWinAMaximum) {
  const Layer layer{.kind = TileKind::max, .h = 6, .w = 6, .channels = 20, .kh = 3, .kw = 3, .pad = 1};
  Data data(layer);
  data.a[20 * 7 + 3] = data.a[20 * 35 + 19] = std::numeric_limits<float>::quiet_NaN();
  data.a[5] = std::numeric_limits<float>::infinity();
  expect_layer(layer, data);
}

}  // namespace
}  // namespace ingot::cpu
