#include "ingot/error.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(ErrorTest, SaysObjectNameExpectationObservationAndRemedyInOneSentence) {
  Error e({.code = ErrorCode::corrupt,
           .object = "engine file",
           .name = "a.ingot",
           .expected = "at least 64 bytes",
           .observed = "12",
           .remedy = "Build it again with 'ingot compile'."});
  EXPECT_STREQ(
      e.what(),
      "engine file 'a.ingot': expected at least 64 bytes, found 12. Build it again with 'ingot compile'.");
  EXPECT_EQ(e.code(), ErrorCode::corrupt);
}

TEST(ErrorTest, LeavesOutEmptyParts) {
  Error e({.code = ErrorCode::cancelled, .object = "build", .observed = "cancelled by the progress monitor"});
  EXPECT_STREQ(e.what(), "build: cancelled by the progress monitor");
}

}  // namespace
}  // namespace ingot
