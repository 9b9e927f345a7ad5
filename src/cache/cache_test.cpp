#include "cache/cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "support/child.h"
#include "support/temp_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kNobody = 65534;

class Lines final : public Logger {
 public:
  std::vector<std::string> texts;

 protected:
  void log(LogLevel, std::string_view message) noexcept override { texts.emplace_back(message); }
};

class CacheTest : public testing::Test {
 protected:
  Cache make(uint64_t limit = Cache::kDefaultLimit) {
    return Cache(path_, {.logger = &lines_, .recorder = nullptr}, limit);
  }
  std::string file(std::string_view key) const { return path_ + "/" + std::string(key); }

  TempFolder parent_;
  std::string path_ = parent_.file("a/b");
  Lines lines_;
};

std::string text_of(const std::shared_ptr<const CacheEntry>& entry) {
  if (!entry) return "(none)";
  return {reinterpret_cast<const char*>(entry->payload().data()), entry->payload().size()};
}

TEST_F(CacheTest, GivesBackWhatWasPut) {
  Cache cache = make();
  EXPECT_EQ(text_of(cache.find("k")), "(none)");
  EXPECT_TRUE(cache.put("k", {}, bytes_of("payload")));
  EXPECT_EQ(text_of(cache.find("k")), "payload");
  EXPECT_TRUE(cache.put("empty", {}, {}));
  EXPECT_EQ(text_of(cache.find("empty")), "");
  EXPECT_EQ(text_of(make().find("k")), "payload");
  const CacheStats stats = cache.stats();
  EXPECT_EQ(stats.hits, 2u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.written, 2u);
  EXPECT_TRUE(lines_.texts.empty());
}

TEST_F(CacheTest, FolderAndFilesArePrivateWhateverTheUmask) {
  const mode_t before = umask(0);
  make().put("k", {}, bytes_of("payload"));
  umask(before);
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(file("k").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(CacheTest, PayloadIsAlignedAndOutlivesItsFile) {
  Cache cache = make();
  cache.put("k", {}, bytes_of("payload"));
  const auto entry = cache.find("k");
  ASSERT_TRUE(entry);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(entry->payload().data()) % 64, 0u);
  fs::remove_all(path_);
  EXPECT_EQ(text_of(entry), "payload");
}

TEST_F(CacheTest, TheRestIsCheckedForItsSizeAlone) {
  Cache cache = make();
  cache.put("k", {}, bytes_of("index"), [](AtomicFile& f) { f.append("rest"); });
  EXPECT_EQ(text_of(cache.find("k")), "indexrest");
  std::string content = read_file(file("k"));
  content.back() = 'x';
  std::ofstream(file("k"), std::ios::binary) << content;
  EXPECT_EQ(text_of(cache.find("k")), "indexresx");
  fs::resize_file(file("k"), content.size() - 1);
  EXPECT_EQ(text_of(cache.find("k")), "(none)");
}

TEST_F(CacheTest, EveryFlippedBitIsNoticedAndTheEntryDropped) {
  Cache cache = make();
  cache.put("k", {}, bytes_of("payload"));
  const std::string good = read_file(file("k"));
  uint64_t damaged = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    const bool is_padding = i >= 192 && i < Cache::kHeaderBytes;
    const bool is_version = i >= 8 && i < 12;  // of another Ingot: left to be replaced
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    std::ofstream(file("k"), std::ios::binary) << bad;
    EXPECT_EQ(text_of(cache.find("k")), is_padding ? "payload" : "(none)") << "byte " << i;
    EXPECT_EQ(fs::exists(file("k")), is_padding || is_version) << "byte " << i;
    damaged += is_padding || is_version ? 0 : 1;
    cache.put("k", {}, bytes_of("payload"));
  }
  EXPECT_EQ(cache.stats().damaged, damaged);
  EXPECT_EQ(cache.stats().outdated, 4u);
  EXPECT_EQ(lines_.texts.size(), damaged);
}

TEST_F(CacheTest, EveryTruncationIsNoticed) {
  Cache cache = make();
  for (size_t size = 0; size < Cache::kHeaderBytes + 7; ++size) {
    cache.put("k", {}, bytes_of("payload"));
    fs::resize_file(file("k"), size);
    EXPECT_EQ(text_of(cache.find("k")), "(none)") << size;
    EXPECT_FALSE(fs::exists(file("k"))) << size;
  }
}

TEST_F(CacheTest, AnEntryUnderAnotherNameIsDropped) {
  Cache cache = make();
  cache.put("k", {}, bytes_of("payload"));
  fs::rename(file("k"), file("other"));
  EXPECT_EQ(text_of(cache.find("other")), "(none)");
  ASSERT_EQ(lines_.texts.size(), 1u);
  EXPECT_NE(lines_.texts[0].find("another key"), std::string::npos) << lines_.texts[0];
}

TEST_F(CacheTest, FilesThatOthersMayWriteAreRefused) {
  Cache cache = make();
  cache.put("k", {}, bytes_of("payload"));
  for (const mode_t mode : {0620, 0602, 0666}) {
    chmod(file("k").c_str(), mode);
    EXPECT_EQ(text_of(cache.find("k")), "(none)");
  }
  chmod(file("k").c_str(), 0644);
  EXPECT_EQ(text_of(cache.find("k")), "payload");
  EXPECT_EQ(cache.stats().refused, 3u);
  EXPECT_EQ(lines_.texts.size(), 1u) << "said once";
}

TEST_F(CacheTest, AFolderThatOthersMayWriteIsRefused) {
  Cache cache = make();
  cache.put("k", {}, bytes_of("payload"));
  chmod(path_.c_str(), 0777);
  EXPECT_EQ(text_of(cache.find("k")), "(none)");
  EXPECT_FALSE(cache.put("k2", {}, bytes_of("payload")));
  EXPECT_FALSE(fs::exists(file("k2")));
  EXPECT_EQ(cache.stats().refused, 2u);
  EXPECT_EQ(lines_.texts.size(), 1u);
}

TEST_F(CacheTest, WhatOthersOwnIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  Cache cache = make();
  cache.put("k", {}, bytes_of("payload"));
  ASSERT_EQ(chown(file("k").c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(text_of(cache.find("k")), "(none)");
  EXPECT_TRUE(fs::exists(file("k"))) << "it is not ours to delete";
  ASSERT_EQ(chown(file("k").c_str(), 0, 0), 0);
  ASSERT_EQ(chown(path_.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(text_of(cache.find("k")), "(none)");
  EXPECT_EQ(cache.stats().refused, 2u);
}

TEST_F(CacheTest, LinksAndFoldersInPlaceOfEntriesAreNotFollowed) {
  Cache cache = make();
  cache.put("k", {}, bytes_of("payload"));
  fs::create_symlink(file("k"), file("link"));
  fs::create_directory(file("folder"));
  EXPECT_EQ(text_of(cache.find("link")), "(none)");
  EXPECT_EQ(text_of(cache.find("folder")), "(none)");
}

TEST_F(CacheTest, AReadOnlyFolderServesButKeepsNothing) {
  make().put("k", {}, bytes_of("payload"));
  EXPECT_TRUE(runs_in_child([&] {
    if (geteuid() == 0) {  // root may write everywhere, so become somebody else
      if (chown(file("k").c_str(), kNobody, kNobody) || chown(path_.c_str(), kNobody, kNobody) ||
          chmod(parent_.path().c_str(), 0755) || chmod(parent_.file("a").c_str(), 0755) || setuid(kNobody))
        return false;
    }
    chmod(path_.c_str(), 0500);
    Cache cache = make();
    const bool served = text_of(cache.find("k")) == "payload";
    const bool kept = cache.put("new", {}, bytes_of("payload")) || cache.put("new2", {}, bytes_of("payload"));
    return served && !kept && cache.stats().write_failures == 2 && lines_.texts.size() == 1;
  }));
}

TEST_F(CacheTest, AFullDiskKeepsNothing) {
  make().put("k", {}, bytes_of("payload"));
  EXPECT_TRUE(runs_in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    Cache cache = make();
    const std::string large(100000, 'x');
    const bool kept = cache.put("large", {}, bytes_of(large)) || cache.put("k", {}, bytes_of(large));
    return !kept && text_of(cache.find("k")) == "payload" && cache.stats().write_failures == 2;
  }));
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), fs::directory_iterator()), 1);
}

TEST_F(CacheTest, AMissingFolderIsMadeAgain) {
  Cache cache = make();
  cache.put("k", {}, bytes_of("payload"));
  fs::remove_all(parent_.file("a"));
  EXPECT_EQ(text_of(cache.find("k")), "(none)");
  EXPECT_TRUE(cache.put("k", {}, bytes_of("payload")));
  EXPECT_EQ(text_of(cache.find("k")), "payload");
}

TEST_F(CacheTest, AnImpossibleFolderKeepsNothing) {
  parent_.write("file", "");
  for (const std::string& path : {parent_.file("file/cache"), std::string("/proc/cache"), std::string("")}) {
    Cache cache(path);
    EXPECT_FALSE(cache.put("k", {}, bytes_of("payload"))) << path;
    EXPECT_EQ(text_of(cache.find("k")), "(none)") << path;
  }
}

TEST_F(CacheTest, TheLeastRecentlyUsedGoFirst) {
  const std::string payload(10000, 'x');
  Cache cache = make(35000);
  for (const char* key : {"a", "b", "c"}) cache.put(key, {}, bytes_of(payload));
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(file("a"), now - std::chrono::hours(3));
  fs::last_write_time(file("b"), now - std::chrono::hours(2));
  fs::last_write_time(file("c"), now - std::chrono::hours(4));
  EXPECT_NE(text_of(cache.find("c")), "(none)");  // used just now
  cache.put("d", {}, bytes_of(payload));          // the limit leaves room for one or two besides
  EXPECT_FALSE(fs::exists(file("a")));
  EXPECT_TRUE(fs::exists(file("c")));
  EXPECT_TRUE(fs::exists(file("d")));
  EXPECT_GE(cache.stats().evicted, 1u);
}

TEST_F(CacheTest, AbandonedTemporariesGoToo) {
  Cache cache = make(15000);
  cache.put("a", {}, bytes_of("x"));
  std::ofstream(file(".ingot-1-1.tmp")) << std::string(6000, 'x');
  std::ofstream(file(".ingot-1-2.tmp")) << "being written";
  fs::last_write_time(file(".ingot-1-1.tmp"), fs::file_time_type::clock::now() - std::chrono::hours(2));
  Cache(path_, {}, 15000).put("b", {}, bytes_of(std::string(12000, 'x')));
  EXPECT_FALSE(fs::exists(file(".ingot-1-1.tmp")));
  EXPECT_TRUE(fs::exists(file(".ingot-1-2.tmp")));
}

TEST_F(CacheTest, TenProcessesMayWriteOneEntry) {
  const std::string payload(300000, 'p');
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 10; ++i) {
    children.push_back(std::make_unique<Child>([&] {
      Cache cache = make();
      for (int round = 0; round < 20; ++round) {
        if (!cache.put("k", {}, bytes_of(payload)) || text_of(cache.find("k")) != payload) return false;
      }
      return cache.stats().damaged == 0;
    }));
  }
  for (const auto& child : children) EXPECT_TRUE(child->succeeded());
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), fs::directory_iterator()), 1);
}

TEST(CacheDefaultFolder, FollowsTheEnvironment) {
  EXPECT_TRUE(runs_in_child([] {
    setenv("HOME", "/home/u", 1);
    unsetenv("INGOT_CACHE");
    setenv("XDG_CACHE_HOME", "relative", 1);
    bool good = Cache::default_folder() == "/home/u/.cache/ingot";
    setenv("XDG_CACHE_HOME", "/x", 1);
    good = good && Cache::default_folder() == "/x/ingot";
    setenv("INGOT_CACHE", "/mine", 1);
    good = good && Cache::default_folder() == "/mine";
    setenv("INGOT_CACHE", "", 1);
    return good && Cache::default_folder().empty();
  }));
}

}  // namespace
}  // namespace ingot
