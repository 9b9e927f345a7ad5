#include "base/paged_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "ingot/error.h"
#include "support/peak_memory.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

constexpr size_t kBytes = size_t{32} << 20;

TEST(PagedMemory, PagesLeaveAndComeBack) {
  TempFolder folder;
  const auto memory = allocate_paged(folder.path(), kBytes);
  const std::span bytes(memory.get(), kBytes);
  EXPECT_EQ(bytes.front(), std::byte{0});
  for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 4096);
  const uint64_t full = resident_memory().now;
  drop_pages(bytes);
  if (!kMemoryIsSanitized) {
    EXPECT_LT(resident_memory().now, full - kBytes / 2);
  }
  prefetch_pages(bytes);
  for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(bytes[i], static_cast<std::byte>(i * 31 + i / 4096)) << i;
}

TEST(PagedMemory, LeavesNoFile) {
  TempFolder folder;
  const auto memory = allocate_paged(folder.path(), 4096);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(PagedMemory, AFolderThatIsMissingIsNamed) {
  const Error error = thrown_by([] { (void)allocate_paged("/no/such/folder", 4096); });
  EXPECT_NE(std::string_view(error.what()).find("/no/such/folder"), std::string_view::npos) << error.what();
}

}  // namespace
}  // namespace ingot
