#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/reference/evaluate.h"
#include "ingot/error.h"
#include "ir/small_constants.h"

// What the ONNX cases leave out of movement, reductions and sorting. Expected values are NumPy's.
namespace ingot::reference {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Kernels : public testing::Test {
 protected:
  GraphBuilder g;

  template <class T>
  Value data(Shape shape, const std::vector<T>& elements) {
    return g.constant(Tensor::of(std::move(shape), elements));
  }
  Value ints(std::vector<int64_t> v) { return int_list(g, v); }
  Value floats(const std::vector<float>& v) { return data({static_cast<int64_t>(v.size())}, v); }

  Tensor run(Value v) {
    g.output("y", v);
    return evaluate(std::move(g).finish(), {}).at(0).tensor();
  }
  template <class T>
  std::vector<T> elements(Value v) {
    Tensor t = run(v);
    return {t.data<T>().begin(), t.data<T>().end()};
  }
};

TEST_F(Kernels, WrapGoesAroundAsOftenAsNeeded) {
  EXPECT_EQ(elements<int64_t>(g.pad(ints({1, 2, 3}), ints({4, 5}), {}, {}, {.mode = PadMode::wrap})),
            (std::vector<int64_t>{3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2}));
}

TEST_F(Kernels, ReflectGoesBackAndForth) {
  EXPECT_EQ(elements<int64_t>(g.pad(ints({1, 2, 3}), ints({5, 6}), {}, {}, {.mode = PadMode::reflect})),
            (std::vector<int64_t>{2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1}));
}

TEST_F(Kernels, ReflectOfOneElementRepeatsIt) {
  EXPECT_EQ(elements<int64_t>(g.pad(ints({7}), ints({2, 1}), {}, {}, {.mode = PadMode::reflect})),
            (std::vector<int64_t>{7, 7, 7, 7}));
}

TEST_F(Kernels, ANegativePadCuts) {
  EXPECT_EQ(elements<int64_t>(g.pad(ints({1, 2, 3}), ints({-1, 2}), {}, {})),
            (std::vector<int64_t>{2, 3, 0, 0}));
}

TEST_F(Kernels, PaddingFromNothingFails) {
  g.output("y", g.pad(ints({}), ints({1, 0}), {}, {}, {.mode = PadMode::edge}));
  Graph graph = std::move(g).finish();
  EXPECT_THROW(evaluate(graph, {}), Error);
}

TEST_F(Kernels, SliceBackwards) {
  std::vector<int64_t> all(12);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  Value x = data({3, 4}, all);
  EXPECT_EQ(elements<int64_t>(g.slice(x, ints({-1, 1}), ints({INT64_MIN, 10}), {}, ints({-2, 2}))),
            (std::vector<int64_t>{9, 11, 1, 3}));
}

TEST_F(Kernels, FourBitElementsMoveLikeOthers) {
  Value packed = g.cast(ints({-8, 7, 3, -1, 5}), {.to = DType::i4});
  Value moved = g.tile(g.slice(packed, ints({1}), ints({4}), {}, {}), ints({2}));
  EXPECT_EQ(elements<int64_t>(g.cast(moved, {.to = DType::i64})), (std::vector<int64_t>{7, 3, -1, 7, 3, -1}));
}

TEST_F(Kernels, StringsAreGatheredAndPadded) {
  Value words = g.constant(Tensor::of_strings({3}, {"a", "b", "c"}));
  Tensor t = run(g.pad(g.gather(words, ints({2, -3})), ints({1, 0}), {}, {}));
  EXPECT_EQ(std::vector<std::string>(t.strings().begin(), t.strings().end()),
            (std::vector<std::string>{"", "c", "a"}));
}

TEST_F(Kernels, AnIndexOutOfRangeIsNamed) {
  g.output("y", g.gather(ints({1, 2}), ints({-3})));
  Graph graph = std::move(g).finish();
  try {
    evaluate(graph, {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.parts().observed, "-3");
    EXPECT_EQ(e.parts().expected, "indices in [-2, 1]");
  }
}

TEST_F(Kernels, RangesCountDownAndInFractions) {
  EXPECT_EQ(elements<int64_t>(
                g.range(scalar(g, DType::i64, 10), scalar(g, DType::i64, 0), scalar(g, DType::i64, -3))),
            (std::vector<int64_t>{10, 7, 4, 1}));
}

TEST_F(Kernels, RangeInFractions) {
  EXPECT_EQ(elements<float>(
                g.range(scalar(g, DType::f32, 0), scalar(g, DType::f32, 1), scalar(g, DType::f32, 0.25))),
            (std::vector<float>{0, 0.25F, 0.5F, 0.75F}));
}

TEST_F(Kernels, IntegerSumsWrap) {
  EXPECT_EQ(elements<int32_t>(g.reduce_sum(data<int32_t>({2}, {INT32_MAX, 1}), {})),
            (std::vector<int32_t>{INT32_MIN}));
}

TEST_F(Kernels, RunningSumsWrap) {
  EXPECT_EQ(elements<int8_t>(g.cum_sum(data<int8_t>({2}, {100, 100}), scalar(g, DType::i64, 0))),
            (std::vector<int8_t>{100, -56}));
}

TEST_F(Kernels, TheMaximumWithANanIsNan) {
  EXPECT_TRUE(std::isnan(elements<float>(g.reduce_max(floats({1, kNan, 3}), {}))[0]));
}

TEST_F(Kernels, TheMinimumOfNothingIsTheGreatestNumber) {
  EXPECT_EQ(elements<int32_t>(g.reduce_min(data<int32_t>({0}, {}), {})), (std::vector<int32_t>{INT32_MAX}));
}

TEST_F(Kernels, TheFirstNanIsTheLargestElement) {
  EXPECT_EQ(elements<int64_t>(g.arg_max(floats({1, kNan, 3, kNan}))), (std::vector<int64_t>{1}));
}

TEST_F(Kernels, NansAreOneDistinctElement) {
  auto parts = g.unique(floats({3, kNan, 1, kNan, 3}));
  EXPECT_EQ(elements<int64_t>(g.concat({parts[1], parts[2], parts[3]})),
            (std::vector<int64_t>{2, 0, 1, 1, 2, 0, 2, 1, 1, 2, 2}));
}

TEST_F(Kernels, TopPutsNanFirst) {
  auto [values, places] = g.top_k(floats({1, kNan, 3, 3}), ints({3}));
  EXPECT_EQ(elements<int64_t>(places), (std::vector<int64_t>{1, 2, 3}));
}

TEST_F(Kernels, ScatterAddsInAWideType) {
  // 2048 + 1 is not an f16: adding one by one would stay at 2048.
  Value x = scalar(g, DType::f16, 2048), one = scalar(g, DType::f16, 1);
  Value sum = g.scatter_elements(g.unsqueeze(x, ints({0})), ints({0, 0}), g.broadcast_to(one, ints({2})),
                                 {.reduction = Reduction::add});
  EXPECT_EQ(elements<float>(g.cast(sum, {.to = DType::f32})), (std::vector<float>{2050}));
}

TEST_F(Kernels, LookupFindsTheLastOfEqualKeysAndNan) {
  Value found =
      g.lookup(floats({kNan, 2, 5}), floats({2, kNan, 2}), ints({10, 20, 30}), scalar(g, DType::i64, -1));
  EXPECT_EQ(elements<int64_t>(found), (std::vector<int64_t>{20, 30, -1}));
}

TEST_F(Kernels, NonZeroOfAScalarHasNoRows) {
  EXPECT_EQ(run(g.non_zero(scalar(g, DType::f32, 2))).shape(), (Shape{0, 1}));
}

TEST_F(Kernels, SuppressionWithoutALimitSelectsNothing) {
  Value boxes = data<float>({1, 1, 4}, {0, 0, 1, 1}), scores = data<float>({1, 1, 1}, {0.5F});
  EXPECT_EQ(run(g.non_max_suppression(boxes, scores, {}, {}, {})).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace ingot::reference
