#include "base/atomic_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/bytes.h"
#include "support/child.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using Temporary = AtomicFile::Temporary;

size_t entries(const TempFolder& folder) {
  auto begin = std::filesystem::directory_iterator(folder.path());
  return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

class AtomicFileTest : public testing::TestWithParam<Temporary> {
 protected:
  TempFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Temporaries, AtomicFileTest, testing::Values(Temporary::nameless, Temporary::named));

TEST_P(AtomicFileTest, AppearsOnlyWithCommitAndReplacesTheOldFile) {
  folder_.write("a", "old");
  AtomicFile file(folder_.file("a"), "engine file", GetParam());
  file.append("new ");
  file.append("content");
  EXPECT_EQ(file.size(), 11u);
  EXPECT_EQ(read_file(folder_.file("a")), "old");
  file.commit();
  EXPECT_EQ(read_file(folder_.file("a")), "new content");
  EXPECT_EQ(entries(folder_), 1u);
}

TEST(AtomicFile, TemporariesOfTheDeadGoWhenTheyAreOld) {
  TempFolder folder;
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  for (const char* name : {".ingot-1-1.tmp", ".ingot-1-2.tmp", "mine", ".hidden"}) folder.write(name, "x");
  for (const char* name : {".ingot-1-1.tmp", "mine", ".hidden"})
    std::filesystem::last_write_time(folder.file(name), old);
  std::filesystem::create_directory(folder.file(".ingot-folder"));
  std::filesystem::last_write_time(folder.file(".ingot-folder"), old);
  AtomicFile::remove_abandoned(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder.file(".ingot-1-1.tmp")));
  EXPECT_EQ(entries(folder), 4u);
  AtomicFile::remove_abandoned(folder.file("missing"));
}

TEST_P(AtomicFileTest, LeavesNothingWithoutCommit) {
  {
    AtomicFile file(folder_.file("a"), "file", GetParam());
    file.append(std::string(3 << 20, 'x'));
  }
  EXPECT_EQ(entries(folder_), 0u);
}

TEST_P(AtomicFileTest, PiecesOfAllSizesAndPatchesArriveInOrder) {
  std::string expected;
  AtomicFile file(folder_.file("a"), "file", GetParam());
  int i = 0;
  for (size_t size : {10u, 1048570u, 1u, 1048576u, 0u, 3000000u, 7u}) {
    std::string piece(size, static_cast<char>('a' + i++));
    expected += piece;
    file.append(piece);
  }
  file.append_zeros(1500000);
  expected += std::string(1500000, '\0');
  file.write_at(5, bytes_of("HEADER"));
  expected.replace(5, 6, "HEADER");
  file.append("end");
  expected += "end";
  EXPECT_EQ(file.size(), expected.size());
  file.commit();
  EXPECT_TRUE(read_file(folder_.file("a")) == expected);
}

TEST_P(AtomicFileTest, PatchesOnlyWhatWasAppended) {
  AtomicFile file(folder_.file("a"), "file", GetParam());
  file.append("1234");
  EXPECT_EQ(thrown_by([&] { file.write_at(1, bytes_of("abcd")); }).code(), ErrorCode::internal);
  file.write_at(1, bytes_of("abc"));
  file.commit();
  EXPECT_EQ(read_file(folder_.file("a")), "1abc");
}

TEST_P(AtomicFileTest, AFullDiskLeavesTheOldFileAndNoTemporary) {
  folder_.write("a", "old");
  EXPECT_TRUE(runs_in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    AtomicFile file(folder_.file("a"), "engine file", GetParam());
    Error e = thrown_by([&] {
      file.append(std::string(3 << 20, 'x'));
      file.commit();
    });
    return e.code() == ErrorCode::device && e.parts().name == folder_.file("a") &&
           e.parts().observed == "cannot write: File too large" && !e.parts().remedy.empty();
  }));
  EXPECT_EQ(read_file(folder_.file("a")), "old");
  EXPECT_EQ(entries(folder_), 1u);
}

TEST_P(AtomicFileTest, AFolderWithoutPermissionIsNamed) {
  chmod(folder_.path().c_str(), 0555);
  EXPECT_TRUE(runs_in_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return false;
    Error e = thrown_by([&] { AtomicFile(folder_.file("a"), "engine file", GetParam()); });
    return std::string(e.what()) ==
           "engine file '" + folder_.file("a") +
               "': cannot create a temporary next to it: Permission denied. Check the "
               "permissions of the file and its folder.";
  }));
  chmod(folder_.path().c_str(), 0755);
}

TEST_P(AtomicFileTest, RefusesAMissingFolderAndNeverReplacesAFolderOrDevice) {
  EXPECT_EQ(thrown_by([&] { AtomicFile(folder_.file("no/a"), "file", GetParam()); }).code(),
            ErrorCode::not_found);
  EXPECT_EQ(thrown_by([&] { AtomicFile(folder_.path(), "file", GetParam()); }).parts().observed, "a folder");
  EXPECT_EQ(thrown_by([&] { AtomicFile("/dev/null", "file", GetParam()); }).parts().observed, "a device");
  EXPECT_EQ(thrown_by([&] { AtomicFile("", "file", GetParam()); }).code(), ErrorCode::invalid_argument);
}

TEST_P(AtomicFileTest, ANameOfTheLongestLengthWorks) {
  AtomicFile file(folder_.file(std::string(255, 'n')), "file", GetParam());
  file.append("x");
  file.commit();
  EXPECT_EQ(read_file(folder_.file(std::string(255, 'n'))), "x");
}

TEST_P(AtomicFileTest, TwoWritersOfOneNameDoNotMix) {
  AtomicFile one(folder_.file("a"), "file", GetParam()), two(folder_.file("a"), "file", GetParam());
  one.append("one");
  two.append("second");
  one.commit();
  two.commit();
  EXPECT_EQ(read_file(folder_.file("a")), "second");
  EXPECT_EQ(entries(folder_), 1u);
}

TEST(AtomicFileCrashTest, AKilledWriterLeavesNothing) {
  TempFolder folder;
  folder.write("a", "old");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  Child child([&] {
    AtomicFile file(folder.file("a"));
    file.append(std::string(2 << 20, 'x'));
    if (::write(ready[1], "r", 1) != 1) return false;
    pause();
    return false;
  });
  char c;
  ASSERT_EQ(::read(ready[0], &c, 1), 1);
  child.kill();
  close(ready[0]);
  close(ready[1]);
  EXPECT_EQ(read_file(folder.file("a")), "old");
  EXPECT_EQ(entries(folder), 1u);
}

}  // namespace
}  // namespace ingot
