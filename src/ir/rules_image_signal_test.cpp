#include <gtest/gtest.h>

#include "ingot/graph.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

Value image(GraphBuilder& g) {
  return g.input("x", Type::tensor(DType::f32, {Dim::symbol("n"), 3, Dim::symbol("h"), 32}));
}

ResizeAttrs by_scales(std::vector<double> scales) {
  ResizeAttrs a;
  a.axes = {2, 3};
  a.scales = std::move(scales);
  return a;
}

TEST(ResizeRule, ScalesSymbolicSizesWhereThatIsExact) {
  GraphBuilder g;
  Value x = image(g);
  EXPECT_EQ(to_string(g.type(g.resize(x, {}, {}, {}, by_scales({2, 0.5})))), "f32[n, 3, 2*h, 16]");
  EXPECT_EQ(to_string(g.type(g.resize(x, {}, {}, {}, by_scales({0.25, 0.7f})))),
            "f32[n, 3, floordiv(h, 4), 22]");
  EXPECT_FALSE(g.dims(g.resize(x, {}, {}, {}, by_scales({1.5, 1})))[2].is_constant());
}

TEST(ResizeRule, TakesSizesThatFollowOtherShapes) {
  GraphBuilder g;
  Value x = image(g), like = g.input("like", Type::tensor(DType::f32, {Dim::symbol("a"), Dim::symbol("b")}));
  ResizeAttrs a;
  a.axes = {-2, -1};
  EXPECT_EQ(to_string(g.type(g.resize(x, {}, {}, g.shape_of(like), a))), "f32[n, 3, a, b]");
}

TEST(ResizeRule, RefusesScalesThatDoNotFit) {
  GraphBuilder g;
  Value x = image(g);
  EXPECT_EQ(thrown_by([&] { g.resize(x, {}, {}, {}, by_scales({2})); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] {
              g.resize(x, {}, {}, {}, by_scales({2, -1}));
            }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { g.resize(x, {}, {}, {}, by_scales({})); }).code(), ErrorCode::invalid_argument);
}

TEST(StftRule, CountsFramesOfASymbolicSignal) {
  GraphBuilder g;
  Value x = g.input("x", Type::tensor(DType::f32, {1, Dim::symbol("t"), 1}));
  Value step = g.constant(Tensor::of<int64_t>({}, {160})),
        length = g.constant(Tensor::of<int64_t>({}, {400}));
  const Dims dims = g.dims(g.stft(x, step, {}, length, {}));
  EXPECT_EQ(dims[1], floordiv(Dim::symbol("t") - 400, 160) + 1);
  EXPECT_EQ(dims[2], Dim(201));
}

TEST(SequenceRule, AnElementHasSizesOfItsOwn) {
  GraphBuilder g;
  Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n"), 3}));
  Value y = g.input("y", Type::tensor(DType::f32, {Dim::symbol("m"), 3}));
  Value s = g.sequence_construct({x, y});
  const Dims dims = g.dims(g.sequence_at(s, g.constant(Tensor::of<int64_t>({}, {0}))));
  EXPECT_FALSE(dims[0] == Dim::symbol("n") || dims[0] == Dim::symbol("m"));
  EXPECT_EQ(dims[1], Dim(3));
}

TEST(SequenceRule, RefusesElementsOfAnotherType) {
  GraphBuilder g;
  Value x = g.input("x", Type::tensor(DType::f32, {2})), i = g.input("i", Type::tensor(DType::i64, {2}));
  EXPECT_EQ(thrown_by([&] { g.sequence_construct({x, i}); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { g.sequence_insert(g.sequence_construct({x}), i, {}); }).code(),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ingot
