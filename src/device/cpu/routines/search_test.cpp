#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/routines/routine_testing.h"
#include "ingot/error.h"

namespace ingot::cpu::testing {
namespace {

// Few different numbers, so that there are ties.
Tensor with_ties(DType dtype, const Shape& shape) {
  Tensor t = random(DType::f32, shape);
  for (float& v : t.mutable_data<float>()) v = std::floor(std::fabs(v));
  Tensor out = Tensor::allocate(dtype, shape);
  std::vector<double> values(t.data<float>().begin(), t.data<float>().end());
  encode_from_f64(dtype, values.data(), out.count(), out.mutable_bytes().data());
  return out;
}

Tensor with_nan(const Shape& shape, std::initializer_list<size_t> places) {
  Tensor t = random(DType::f32, shape);
  for (size_t p : places) t.mutable_data<float>()[p] = NAN;
  return t;
}

TEST(SearchRoutinesTest, ArgMaxAndArgMinAlongEveryAxis) {
  for (DType dtype : {DType::f32, DType::f64, DType::u8, DType::i64})
    for (int64_t axis : {0, 1, -1})
      for (bool last : {false, true})
        for (bool keep : {false, true}) {
          const Tensor x = with_ties(dtype, {5, 4, 37});
          expect_like_reference(ArgMaxAttrs{.axis = axis, .keep_dims = keep, .last = last}, {x});
          expect_like_reference(ArgMinAttrs{.axis = axis, .keep_dims = keep, .last = last}, {x});
        }
}

TEST(SearchRoutinesTest, ArgMaxTakesNanFirst) {
  for (bool last : {false, true})
    for (int64_t axis : {0, 1}) {
      const Tensor x = with_nan({3, 40}, {5, 17, 90});
      expect_like_reference(ArgMaxAttrs{.axis = axis, .last = last}, {x});
      expect_like_reference(ArgMinAttrs{.axis = axis, .last = last}, {x});
    }
}

TEST(SearchRoutinesTest, ArgMaxOfManyLinesIsSharedOut) {
  expect_like_reference(ArgMaxAttrs{.axis = 1}, {with_ties(DType::f32, {2, 21, 30, 50})});
}

TEST(SearchRoutinesTest, TopKKeepsTheOrderOfEquals) {
  for (DType dtype : {DType::f32, DType::i32, DType::u8})
    for (int64_t axis : {0, 1, -1})
      for (bool largest : {false, true})
        expect_like_reference(TopKAttrs{.axis = axis, .largest = largest},
                              {with_ties(dtype, {3, 4, 9}), ints({3})}, {}, 2);
  expect_like_reference(TopKAttrs{}, {with_nan({4, 6}, {1, 8, 9}), ints({6})}, {}, 2);
  expect_like_reference(TopKAttrs{}, {random(DType::f32, {4, 6}), ints({0})}, {}, 2);
  expect_like_reference(TopKAttrs{}, {random(DType::f32, {40, 60}), ints({5})}, {.unread = 0}, 2);
}

TEST(SearchRoutinesTest, TopKRefusesMoreThanThereAre) {
  const Node node{Op::TopK, {}, TopKAttrs{}, {}, std::vector<Type>(2), ""};
  const std::vector<Datum> expected = {random(DType::f32, {3}), ints({0, 0, 0})};
  EXPECT_THROW(
      expect_results(node, {random(DType::f32, {2}), ints({3})}, expected, Layout::dense, Layout::dense, 1),
      Error);
}

TEST(SearchRoutinesTest, CumSumAndCumProd) {
  for (DType dtype : {DType::f32, DType::f64, DType::i8, DType::u32})
    for (int64_t axis : {0, 1, -1})
      for (bool exclusive : {false, true})
        for (bool reverse : {false, true}) {
          const Tensor x = random(dtype, {5, 4, 7});
          expect_like_reference(CumSumAttrs{.exclusive = exclusive, .reverse = reverse}, {x, ints({axis})});
          expect_like_reference(CumProdAttrs{.exclusive = exclusive, .reverse = reverse}, {x, ints({axis})});
        }
  expect_like_reference(CumSumAttrs{}, {random(DType::f32, {3, 90, 70}), ints({1})});
}

TEST(ListRoutinesTest, NonZeroCountsThenWrites) {
  for (DType dtype : {DType::boolean, DType::f16, DType::f32, DType::i64}) {
    expect_like_reference(NonZeroAttrs{}, {with_ties(dtype, {3, 5, 7})});
    expect_like_reference(NonZeroAttrs{}, {Tensor::allocate(dtype, {3, 5})});
  }
  expect_like_reference(NonZeroAttrs{}, {with_ties(DType::boolean, {200, 301})});
  expect_like_reference(NonZeroAttrs{}, {Tensor::of({4}, std::vector<float>{-0.0f, NAN, 0, 1e-45f})});
}

TEST(ListRoutinesTest, Range) {
  auto range = [](auto start, auto limit, auto step) {
    using T = decltype(start);
    auto scalar = [](T v) { return Tensor::of({}, std::vector<T>{v}); };
    expect_like_reference(RangeAttrs{}, {scalar(start), scalar(limit), scalar(step)});
  };
  range(1.5f, 9.2f, 0.7f);
  range(int64_t{10}, int64_t{-5}, int64_t{-3});
  range(int32_t{3}, int32_t{3}, int32_t{1});
}

}  // namespace
}  // namespace ingot::cpu::testing
