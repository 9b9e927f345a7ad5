#include "base/checked.h"

#include <limits>

#include "support/thrown_by.h"

namespace ingot {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr size_t kSizeMax = std::numeric_limits<size_t>::max();

TEST(CheckedTest, ResultsThatFitAreExact) {
  EXPECT_EQ(try_add<int64_t>(kMax - 1, 1), kMax);
  EXPECT_EQ(try_sub<int64_t>(kMin + 1, 1), kMin);
  EXPECT_EQ(try_mul<int64_t>(kMax / 7, 7), kMax / 7 * 7);
  EXPECT_EQ(checked_add<size_t>(2, 3), 5u);
  EXPECT_EQ(checked_mul<int64_t>(-4, 5), -20);
}

TEST(CheckedTest, ResultsThatDoNotFitAreRefused) {
  EXPECT_EQ(try_add<int64_t>(kMax, 1), std::nullopt);
  EXPECT_EQ(try_sub<size_t>(0, 1), std::nullopt);
  EXPECT_EQ(try_mul<int64_t>(kMin, -1), std::nullopt);
  EXPECT_EQ(try_mul<size_t>(kSizeMax / 2, 3), std::nullopt);
  EXPECT_EQ(try_add<uint8_t>(255, 1), std::nullopt);
}

TEST(CheckedTest, TheErrorNamesTheObjectAndBothOperands) {
  Error e = thrown_by([] { checked_mul<int64_t>(kMax, 2, "tensor 'x'"); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_STREQ(e.what(),
               "tensor 'x': expected a result in the range of its integer type, found 9223372036854775807 * "
               "2. Use smaller sizes.");
  EXPECT_EQ(thrown_by([] { checked_add<size_t>(kSizeMax, 1); }).parts().object, "size");
  EXPECT_EQ(thrown_by([] { checked_sub<size_t>(1, 2); }).parts().observed, "1 - 2");
}

TEST(CheckedTest, CastsKeepTheValueOrThrow) {
  EXPECT_EQ(checked_cast<uint8_t>(int64_t{255}), 255);
  EXPECT_EQ(try_cast<size_t>(int64_t{-1}), std::nullopt);
  EXPECT_EQ(try_cast<int64_t>(kSizeMax), std::nullopt);
  EXPECT_EQ(thrown_by([] { checked_cast<int32_t>(int64_t{1} << 31); }).parts().observed, "2147483648");
}

TEST(CheckedTest, AlignsUpOrRefuses) {
  EXPECT_EQ(try_align_up<size_t>(4097, 4096), 8192u);
  EXPECT_EQ(try_align_up<size_t>(4096, 4096), 4096u);
  EXPECT_EQ(try_align_up<size_t>(0, 64), 0u);
  EXPECT_EQ(try_align_up<size_t>(kSizeMax - 1, 4096), std::nullopt);
}

TEST(CheckedTest, ProductOfAShape) {
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(try_product(Dims{}), 1);
  EXPECT_EQ(try_product(Dims{2, 3, 4}), 24);
  EXPECT_EQ(try_product(Dims{kMax, kMax, 0}), 0);
  EXPECT_EQ(try_product(Dims{kMax, 2}), std::nullopt);
  EXPECT_EQ(try_product(Dims{0, -1}), std::nullopt);
  EXPECT_EQ(thrown_by([] { checked_product(Dims{kMax, 2}); }).parts().observed, "9223372036854775807 * 2");
}

TEST(CheckedTest, RangeFitsDoesNotWrap) {
  EXPECT_TRUE(range_fits(10, 0, 10));
  EXPECT_TRUE(range_fits(4, 6, 10));
  EXPECT_FALSE(range_fits(11, 0, 10));
  EXPECT_FALSE(range_fits(4, kSizeMax - 2, 10));
}

}  // namespace
}  // namespace ingot
