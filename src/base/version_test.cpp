#include "ingot/version.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace ingot {
namespace {

TEST(VersionTest, IsThreeNumbersAndNothingElse) {
  int major = -1, minor = -1, patch = -1;
  char rest = 0;
  ASSERT_EQ(std::sscanf(std::string(version()).c_str(), "%d.%d.%d%c", &major, &minor, &patch, &rest), 3);
  EXPECT_GE(major, 0);
  EXPECT_GE(minor, 0);
  EXPECT_GE(patch, 0);
}

TEST(VersionTest, NamesTheCompilerWithItsVersion) {
  EXPECT_NE(compiler().find(' '), std::string_view::npos) << compiler();
}

TEST(VersionTest, ReadsTheFormatItWrites) { EXPECT_LE(kOldestEngineFormatVersion, kEngineFormatVersion); }

}  // namespace
}  // namespace ingot
