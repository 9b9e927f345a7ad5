#include "base/mapped_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.size()};
}

long resident_kib() {
  long total = 0, resident = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  EXPECT_EQ(fscanf(f, "%ld %ld", &total, &resident), 2);
  fclose(f);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

TEST(MappedFileTest, GivesTheBytesSizeAndPath) {
  TempFolder folder;
  auto file = MappedFile::open(folder.write("a", "hello"), "engine file");
  EXPECT_EQ(text_of(*file), "hello");
  EXPECT_EQ(file->size(), 5u);
  EXPECT_EQ(file->path(), folder.file("a"));
}

TEST(MappedFileTest, KeepsItsBytesWhenTheFileIsReplacedOrDeleted) {
  TempFolder folder;
  auto file = MappedFile::open(folder.write("a", "old"));
  ASSERT_EQ(rename(folder.write("b", "new content").c_str(), folder.file("a").c_str()), 0);
  EXPECT_EQ(text_of(*file), "old");
  ASSERT_EQ(unlink(folder.file("a").c_str()), 0);
  EXPECT_EQ(text_of(*file), "old");
}

TEST(MappedFileTest, RefusesWhatIsNotARegularFileAndDoesNotWait) {
  TempFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  struct {
    std::string path, found;
  } cases[] = {{folder.path(), "a folder"}, {folder.file("pipe"), "a pipe"}, {"/dev/null", "a device"}};
  for (auto& c : cases) {
    Error e = thrown_by([&] { MappedFile::open(c.path, "engine file"); });
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(std::string(e.what()), "engine file '" + c.path + "': expected a regular file, found " +
                                         c.found + ". Name a regular file.");
  }
}

TEST(MappedFileTest, RefusesAnEmptyAndAMissingFile) {
  TempFolder folder;
  Error empty = thrown_by([&] { MappedFile::open(folder.write("empty", "")); });
  EXPECT_EQ(empty.code(), ErrorCode::corrupt);
  EXPECT_EQ(empty.parts().observed, "an empty file");
  Error missing = thrown_by([&] { MappedFile::open(folder.file("none")); });
  EXPECT_EQ(missing.code(), ErrorCode::not_found);
  EXPECT_EQ(missing.parts().name, folder.file("none"));
}

TEST(MappedFileTest, DropFreesMemoryAndKeepsContent) {
  TempFolder folder;
  std::string content(1 << 22, 'x');
  auto file = MappedFile::open(folder.write("a", content));
  ASSERT_EQ(text_of(*file), content);
  long before = resident_kib();
  file->advise(Advice::drop, 5000, file->size());
  EXPECT_LT(resident_kib(), before - 3000);
  EXPECT_EQ(text_of(*file), content);
}

TEST(MappedFileTest, DropsAViewOfItselfAlone) {
  TempFolder folder;
  auto file = MappedFile::open(folder.write("a", std::string(1 << 22, 'x')));
  auto other = MappedFile::open(folder.write("b", std::string(1 << 22, 'y')));
  text_of(*file);
  text_of(*other);
  long before = resident_kib();
  file->drop(other->bytes());
  EXPECT_GT(resident_kib(), before - 1000);
  file->drop(file->bytes().subspan(1));
  EXPECT_LT(resident_kib(), before - 3000);
}

TEST(MappedFileTest, AdviceOutsideTheFileIsHarmless) {
  TempFolder folder;
  auto file = MappedFile::open(folder.write("a", "hello"));
  file->advise(Advice::sequential, 100, 100);
  file->advise(Advice::will_need, 3, ~size_t{0});
  file->advise(Advice::random);
  EXPECT_EQ(text_of(*file), "hello");
}

}  // namespace
}  // namespace ingot
