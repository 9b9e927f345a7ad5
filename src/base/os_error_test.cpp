#include "base/os_error.h"

#include <cerrno>

#include "support/thrown_by.h"

namespace ingot {
namespace {

Error error_of(int error_number) {
  return thrown_by([&] { throw_os_error(error_number, "engine file", "/a/b.ingot", "write"); });
}

TEST(OsErrorTest, AFullDiskNamesThePathAndTheRemedy) {
  EXPECT_STREQ(
      error_of(ENOSPC).what(),
      "engine file '/a/b.ingot': cannot write: No space left on device. Free space on the disk or choose "
      "another folder.");
  EXPECT_EQ(error_of(ENOSPC).code(), ErrorCode::device);
}

TEST(OsErrorTest, TheCodeSaysWhatTheCallerCanDo) {
  EXPECT_EQ(error_of(ENOENT).code(), ErrorCode::not_found);
  EXPECT_EQ(error_of(EISDIR).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(ENAMETOOLONG).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(ENOMEM).code(), ErrorCode::out_of_memory);
  EXPECT_EQ(error_of(EROFS).code(), ErrorCode::device);
}

TEST(OsErrorTest, AnUnknownNumberIsStillASentence) {
  EXPECT_STREQ(error_of(99999).what(), "engine file '/a/b.ingot': cannot write: unknown error");
}

}  // namespace
}  // namespace ingot
