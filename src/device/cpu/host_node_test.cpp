#include "device/cpu/host_node.h"

#include <gtest/gtest.h>

#include "device/reference/evaluate.h"
#include "ingot/error.h"

namespace ingot::cpu {
namespace {

class HostNodeTest : public testing::Test {
 protected:
  std::optional<std::vector<Datum>> run(Attrs attrs, const std::vector<Datum>& operands, size_t outputs = 1) {
    node_ = {attrs.op(), std::vector<Value>(operands.size()), attrs, {}, std::vector<Type>(outputs), ""};
    return run_routine(node_, operands, pool_, scratch_);
  }

  // By a routine, and like the reference device.
  void expect_like_reference(Attrs attrs, const std::vector<Datum>& operands, size_t outputs = 1) {
    const auto results = run(attrs, operands, outputs);
    ASSERT_TRUE(results.has_value());
    const auto expected = reference::evaluate_node(node_, operands);
    for (size_t i = 0; i < outputs; ++i)
      EXPECT_TRUE((*results)[i].tensor().identical(expected[i].tensor())) << i;
  }

 private:
  Node node_;
  ThreadPool pool_{2};
  Arena scratch_;
};

const Tensor kNumbers = Tensor::of({2, 3}, std::vector<float>{3, 0, -1, 0, 5, 2});
const Tensor kTwo = Tensor::of({1}, std::vector<int64_t>{2});

TEST_F(HostNodeTest, SizesThatDependOnDataAreMeasured) { expect_like_reference(NonZeroAttrs{}, {kNumbers}); }

TEST_F(HostNodeTest, SizesThatFollowFromTheOperandsAreInferred) {
  expect_like_reference(TopKAttrs{}, {kNumbers, kTwo}, 2);
  expect_like_reference(GatherAttrs{.axis = 1}, {kNumbers, kTwo});
}

TEST_F(HostNodeTest, AnAbsentOperandStaysAbsent) {
  expect_like_reference(SliceAttrs{},
                        {kNumbers, Tensor::of({1}, std::vector<int64_t>{1}), kTwo, Datum(), Datum()});
}

TEST_F(HostNodeTest, WhatHasNoRoutineIsLeftToOthers) {
  EXPECT_FALSE(run(AbsAttrs{}, {kNumbers}).has_value());
  EXPECT_FALSE(run(NonZeroAttrs{}, {Tensor::of_strings({1}, {"a"})}).has_value());
  EXPECT_FALSE(run(NonZeroAttrs{}, {Tensor::allocate(DType::i4, {3})}).has_value());
}

TEST_F(HostNodeTest, WrongValuesAreRefused) {
  EXPECT_THROW(run(GatherAttrs{.axis = 0}, {kNumbers, kTwo}), Error);
}

}  // namespace
}  // namespace ingot::cpu
