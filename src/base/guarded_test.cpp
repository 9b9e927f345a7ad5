#include "base/guarded.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/thrown_by.h"

namespace ingot {
namespace {

TEST(GuardedTest, LetsErrorsAndResultsPass) {
  EXPECT_EQ(guarded("file", "a", [] { return 7; }), 7);
  Error e = thrown_by([] { guarded("file", "a", [] { throw Error({.code = ErrorCode::corrupt}); }); });
  EXPECT_EQ(e.code(), ErrorCode::corrupt);
}

TEST(GuardedTest, TurnsOtherExceptionsIntoErrorsThatNameTheObject) {
  Error memory = thrown_by([] { guarded("file", "a", [] { throw std::bad_alloc(); }); });
  EXPECT_EQ(memory.code(), ErrorCode::out_of_memory);
  Error fault = thrown_by([] { guarded("file", "a", [] { throw std::out_of_range("index"); }); });
  EXPECT_EQ(fault.code(), ErrorCode::internal);
  EXPECT_EQ(fault.parts().name, "a");
  EXPECT_EQ(fault.parts().observed, "index");
}

}  // namespace
}  // namespace ingot
