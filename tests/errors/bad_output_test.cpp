// Places where an output file cannot be written: nothing half-written stays, and a file that was there before
// is kept.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bad_case.h"
#include "support/onnx_model.h"
#include "support/test_data.h"

namespace ingot {
namespace {

using namespace onnx_model;

class BadOutput : public BadCase {
 protected:
  void SetUp() override {
    model_ =
        folder_.write("m.onnx", model(node("Add", {"x", "w"}, {"y"}) +
                                      initializer(tensor("w", f32, {50000}, raw(std::string(200000, 'a')))) +
                                      input("x", f32, {"50000"}) + output("y", f32, {"50000"})));
    engine_ = folder_.file("m.ingot");
    ASSERT_EQ(run_program({INGOT_PROGRAM, "compile", model_, "-q", "-o", engine_}).exit_code, 0);
  }

  // As a disk that fills: writing beyond this size fails.
  static void limit_file_size(rlim_t bytes) {
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
  }

  std::string model_, engine_;
};

TEST_F(BadOutput, DiskFullWhileCompiling) {
  expect_failure({"compile", model_, "-q", "-o", folder_.file("new.ingot")},
                 {"engine file '" + folder_.file("new.ingot") + "'", "write", "File too large", "limit"},
                 [] { limit_file_size(100000); });
}

TEST_F(BadOutput, DiskFullKeepsTheFileOfBefore) {
  const std::string before = read_file(engine_);
  expect_failure({"compile", model_, "-q", "-o", engine_}, {"File too large"},
                 [] { limit_file_size(100000); });
  EXPECT_TRUE(read_file(engine_) == before);
}

TEST_F(BadOutput, DiskFullWhileWritingResults) {
  mkdir(folder_.file("out").c_str(), 0755);
  expect_failure({"exec", engine_, "--random-seed", "1", "--output", folder_.file("out")},
                 {"y.npy'", "File too large", "limit"}, [] { limit_file_size(100000); });
}

TEST_F(BadOutput, DiskFullWhileDrawing) {
  expect_failure({"inspect", engine_, "--svg", folder_.file("g.svg")}, {"g.svg'", "File too large"},
                 [] { limit_file_size(100); });
}

// /dev/full would be replaced by a regular file: refused before that.
TEST_F(BadOutput, Device) {
  expect_failure({"compile", model_, "-q", "-o", "/dev/full"}, {"/dev/full", "a regular file"});
}

TEST_F(BadOutput, ReadOnlyFolder) {
  const std::string closed = folder_.file("closed");
  mkdir(closed.c_str(), 0555);
  chmod(folder_.path().c_str(), 0755);
  // Root may write everywhere, so it becomes somebody else first.
  const auto become_nobody = [] {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(126);
    setenv("INGOT_CACHE", "", 1);  // the cache of root is closed to them, which is said
  };
  if (run_program({INGOT_PROGRAM, "version"}, become_nobody).exit_code != 0)
    GTEST_SKIP() << "run by root, and another user cannot reach the program";
  expect_failure({"compile", model_, "-q", "-o", closed + "/new.ingot"},
                 {closed + "/new.ingot'", "Permission denied", "permissions"}, become_nobody);
  expect_failure({"exec", engine_, "--random-seed", "1", "--output", closed + "/out"},
                 {closed + "/out", "ermission"}, become_nobody);
}

TEST_F(BadOutput, FolderThatIsNotThere) {
  expect_failure({"compile", model_, "-q", "-o", folder_.file("gone/new.ingot")},
                 {"gone/new.ingot'", "No such file", "Check the path"});
}

TEST_F(BadOutput, FolderInsteadOfAFile) {
  expect_failure({"compile", model_, "-q", "-o", folder_.path()}, {folder_.path(), "folder"});
}

TEST_F(BadOutput, MemoryLimitOfTheBuild) {
  expect_failure({"compile", model_, "-q", "-o", folder_.file("new.ingot"), "--memory-limit", "1k"},
                 {"1000", "memory"});
}

}  // namespace
}  // namespace ingot
