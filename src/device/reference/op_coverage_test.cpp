#include <gtest/gtest.h>

#include "device/reference/kernel.h"
#include "ir/decompose.h"
#include "ir/op_info.h"

namespace ingot {
namespace {

TEST(OpCoverageTest, EveryOpRunsOnTheReferenceDevice) {
  for (const OpInfo& info : all_ops()) {
    if (info.op == Op::Input || info.op == Op::Constant) continue;
    EXPECT_TRUE(reference::find_kernel(info.op) != nullptr || find_decomposition(info.op) != nullptr)
        << info.name;
  }
}

TEST(OpCoverageTest, ExactlyTheCompositesHaveADecomposition) {
  for (const OpInfo& info : all_ops())
    EXPECT_EQ(info.is(Composite), find_decomposition(info.op) != nullptr) << info.name;
}

TEST(OpCoverageTest, EveryOpIsFoundByItsName) {
  for (const OpInfo& info : all_ops()) {
    ASSERT_NE(find_op(info.name), nullptr) << info.name;
    EXPECT_EQ(find_op(info.name)->op, info.op);
  }
  EXPECT_EQ(find_op("nosuch"), nullptr);
}

}  // namespace
}  // namespace ingot
