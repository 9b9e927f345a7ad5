#include "ir/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/error.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

Type f32(Dims dims) { return Type::tensor(DType::f32, std::move(dims)); }

Type conv_of(Type x, Type w, ConvAttrs attrs) {
  GraphBuilder g;
  return g.type(g.conv(g.input("x", std::move(x)), g.input("w", std::move(w)), {}, std::move(attrs)));
}

TEST(Conv, FollowsSymbolicSizes) {
  Dim n = Dim::symbol("n"), h = Dim::symbol("h", 3);
  Type same = conv_of(f32({n, 3, h, h}), f32({8, 3, 3, 3}), {.pads = {1, 1, 1, 1}});
  EXPECT_EQ(same, f32({n, 8, h, h}));
  Type half = conv_of(f32({n, 3, h, 10}), f32({8, 3, 3, 3}), {.strides = {2, 2}, .pads = {1, 1, 1, 1}});
  EXPECT_EQ(half, f32({n, 8, floordiv(h - 1, 2) + 1, 5}));
}

TEST(Conv, RefusesChannelsThatDoNotFit) {
  EXPECT_THAT(thrown_by([] { conv_of(f32({1, 4, 5}), f32({2, 3, 2}), {}); }).what(), HasSubstr("channels"));
  EXPECT_THAT(thrown_by([] {
                conv_of(f32({1, 4, 5}), f32({3, 2, 2}), {.group = 2});
              }).what(),
              HasSubstr("group"));
  EXPECT_THAT(thrown_by([] {
                conv_of(f32({1, 4, 5}), f32({3, 2, 2}), {.group = 0});
              }).what(),
              HasSubstr("group"));
}

TEST(Conv, RefusesListsOfAnotherLength) {
  auto with = [](ConvAttrs attrs) { return conv_of(f32({1, 4, 5, 5}), f32({2, 4, 3, 3}), std::move(attrs)); };
  EXPECT_THAT(thrown_by([&] { with({.strides = {1}}); }).what(), HasSubstr("strides"));
  EXPECT_THAT(thrown_by([&] { with({.strides = {1, 0}}); }).what(), HasSubstr("strides"));
  EXPECT_THAT(thrown_by([&] { with({.pads = {1, 1}}); }).what(), HasSubstr("pads"));
}

TEST(Conv, HasNoOutputWhereTheWindowIsLargerThanTheData) {
  EXPECT_EQ(conv_of(f32({1, 1, 2}), f32({1, 1, 5}), {}), f32({1, 1, 0}));
}

// Sizes that ONNX Runtime's MaxPool gives: (in, kernel, stride, pad) with ceil_mode.
TEST(WindowCount, LeavesOutAWindowThatWouldStartInThePadding) {
  auto count = [](int64_t in, int64_t kernel, int64_t stride, int64_t pad) {
    const std::array<int64_t, 1> strides = {stride};
    const std::array<int64_t, 2> pads = {pad, pad};
    WindowAttrs attrs{.strides = strides, .pads = pads, .ceil_mode = true};
    return window_count(attrs, window_axis(attrs, 0, 1), in, kernel).constant();
  };
  EXPECT_EQ(count(4, 2, 3, 0), 2);
  EXPECT_EQ(count(3, 1, 2, 0), 2);
  EXPECT_EQ(count(2, 1, 2, 0), 1);
  EXPECT_EQ(count(2, 3, 2, 1), 2);
  EXPECT_EQ(count(2, 2, 3, 1), 1);
}

}  // namespace
}  // namespace ingot
