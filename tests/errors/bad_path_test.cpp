// Paths that lead to something other than a model or an engine.
#include <sys/stat.h>

#include "bad_case.h"

namespace ingot {
namespace {

class BadPath : public BadCase {
 protected:
  // As a model and as an engine, by every command that reads one.
  void expect_refused(const std::string& path, const std::vector<std::string>& parts) const {
    expect_failure({"compile", path, "-q", "-o", folder_.file("out.ingot")}, parts);
    expect_failure({"import-report", path}, parts);
    expect_failure({"inspect", path}, parts);
    expect_failure({"exec", path}, parts);
    expect_failure({"verify", path}, parts);
    expect_failure({"validity", path}, parts);
  }
};

TEST_F(BadPath, Missing) {
  expect_refused(folder_.file("gone"), {"gone'", "No such file", "Check the path"});
}

TEST_F(BadPath, Folder) { expect_refused(folder_.path(), {folder_.path(), "a regular file", "a folder"}); }

TEST_F(BadPath, Pipe) {
  const std::string path = folder_.file("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_refused(path, {"pipe'", "a regular file", "a pipe"});
}

TEST_F(BadPath, Empty) {
  const std::string path = folder_.write("empty", "");
  for (const char* command : {"compile", "import-report", "inspect", "exec", "verify"})
    expect_failure({command, path}, {"empty'", "an empty file"});
}

TEST_F(BadPath, NotOnnx) {
  for (const char* content : {"Dear reader, this is a letter.\n",
                              "\x7f"
                              "ELF\x02\x01\x01",
                              "PK\x03\x04"}) {
    const std::string path = folder_.write("other", content);
    expect_failure({"compile", path, "-q", "-o", folder_.file("out.ingot")},
                   {"other'", "ONNX", "export or download it again"});
  }
}

TEST_F(BadPath, NotAnEngine) {
  const std::string path = folder_.write("other", std::string(100, 'x'));
  expect_failure({"exec", path}, {"other'", "expected an engine file", "ingot compile"});
  expect_failure({"verify", path}, {"other'", "expected an engine file", "ingot compile"});
}

}  // namespace
}  // namespace ingot
