// Engine files that were cut, lengthened or changed.
#include "bad_case.h"

namespace ingot {
namespace {

class BadEngine : public BadCase {
 protected:
  void SetUp() override { bytes_ = engine_bytes(); }
  void expect_refused(const std::string& bytes, const std::vector<std::string>& parts) const {
    const std::string path = folder_.write("bad.ingot", bytes);
    expect_failure({"exec", path, "--random-seed", "1", "--dim", "n=1", "--output", folder_.file("out")},
                   parts);
    expect_failure({"verify", path}, parts);
  }
  std::string bytes_;
};

TEST_F(BadEngine, Truncated) {
  expect_refused(bytes_.substr(0, bytes_.size() - 1),
                 {"bad.ingot'", std::to_string(bytes_.size()), std::to_string(bytes_.size() - 1)});
  expect_refused(bytes_.substr(0, 63), {"bad.ingot'", "64", "63"});
}

TEST_F(BadEngine, Oversized) {
  expect_refused(bytes_ + "more",
                 {"bad.ingot'", std::to_string(bytes_.size()), std::to_string(bytes_.size() + 4)});
}

TEST_F(BadEngine, ChangedHeader) {
  std::string changed = bytes_;
  changed[20] = static_cast<char>(changed[20] ^ 1);
  expect_refused(changed, {"bad.ingot'"});
}

TEST_F(BadEngine, ChangedMetadata) {
  std::string changed = bytes_;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 0x10);
  expect_refused(changed, {"bad.ingot'", "SHA-256"});
}

// Any byte changed, any length cut: `verify` never takes it for sound, and nothing crashes.
TEST_F(BadEngine, AnyChangeIsNoticed) {
  for (size_t at = 0; at < bytes_.size(); at += 1 + bytes_.size() / 60) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    expect_failure({"verify", folder_.write("bad.ingot", changed)}, {"bad.ingot'"});
  }
}

}  // namespace
}  // namespace ingot
