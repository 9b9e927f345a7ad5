#include "cache/container.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "cache/entry_lock.h"
#include "ingot/error.h"
#include "support/child.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Where FORMAT.md puts things.
constexpr size_t kHeader = 64, kRow = 256, kVersion = 8, kRowBytes = 12, kCount = 16;
constexpr size_t kOffset = 192, kBytes = 200, kDigest = 216, kDigestEnd = 248;
constexpr uid_t kNobody = 65534;

NamedEntry entry(const std::string& key, std::string_view payload, int64_t used = 0) {
  const auto memory = Mapping::copy_of(bytes_of(payload));
  const EntryInfo info{.target = "cpu:avx2", .generator = sha256("g"), .engine = {}, .make_microseconds = 5};
  return {key, std::make_shared<CacheEntry>(info, memory, memory->bytes()), used};
}

std::string text_of(const NamedEntry& named) {
  const auto payload = named.entry->payload();
  return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

std::map<std::string, std::string> texts_of(const std::vector<NamedEntry>& entries) {
  std::map<std::string, std::string> texts;
  for (const NamedEntry& named : entries) texts[named.key] = text_of(named);
  return texts;
}

ContainerContent read(std::span<const std::byte> bytes) {
  return read_container(Mapping::copy_of(bytes), "test");
}

std::vector<std::byte> three_entries() {
  return make_container({entry("b", "second"), entry("a", "first"), entry("c", std::string(100, 'x'))});
}
const std::map<std::string, std::string> kThree = {
    {"a", "first"}, {"b", "second"}, {"c", std::string(100, 'x')}};

template <class T>
T number_at(const std::vector<std::byte>& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}
void set_number(std::vector<std::byte>& bytes, size_t offset, uint64_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}
// Makes the digest of a row right again, as an attacker would.
void seal(std::vector<std::byte>& bytes, size_t row) {
  const size_t at = kHeader + row * kRow;
  Sha256 sha;
  sha.update(std::span(bytes).subspan(at, kDigest));
  const auto offset = number_at<uint64_t>(bytes, at + kOffset),
             size = number_at<uint64_t>(bytes, at + kBytes);
  if (offset <= bytes.size() && size <= bytes.size() - offset)
    sha.update(std::span(bytes).subspan(offset, size));
  const Digest digest = sha.finish();
  std::memcpy(bytes.data() + at + kDigest, digest.data(), digest.size());
}

TEST(Container, GivesBackWhatWasPutWhateverTheOrder) {
  const std::vector<std::byte> bytes = three_entries();
  EXPECT_EQ(bytes,
            make_container({entry("c", std::string(100, 'x')), entry("a", "first"), entry("b", "second")}));
  const ContainerContent content = read(bytes);
  EXPECT_EQ(texts_of(content.entries), kThree);
  EXPECT_EQ(content.damaged, 0u);
  EXPECT_EQ(content.entries[0].entry->info(), entry("a", "").entry->info());
}

TEST(Container, HasTheDocumentedBytes) {
  const std::vector<std::byte> bytes = three_entries();
  EXPECT_EQ(std::memcmp(bytes.data(), "INGOTRTC", 8), 0);
  EXPECT_EQ(number_at<uint32_t>(bytes, kVersion), 1u);
  EXPECT_EQ(number_at<uint32_t>(bytes, kRowBytes), kRow);
  EXPECT_EQ(number_at<uint64_t>(bytes, kCount), 3u);
  EXPECT_EQ(number_at<uint64_t>(bytes, 24), bytes.size());
  const size_t row = kHeader + kRow;
  EXPECT_STREQ(reinterpret_cast<const char*>(bytes.data()) + row, "b");
  EXPECT_STREQ(reinterpret_cast<const char*>(bytes.data()) + row + 96, "cpu:avx2");
  const auto offset = number_at<uint64_t>(bytes, row + kOffset);
  EXPECT_EQ(offset % 64, 0u);
  EXPECT_EQ(std::memcmp(bytes.data() + offset, "second", 6), 0);
  std::vector<std::byte> again = bytes;
  for (size_t i = 0; i < 3; ++i) seal(again, i);
  EXPECT_EQ(again, bytes) << "the digests are those of the document";
}

TEST(Container, NothingIsAnEmptyOne) {
  EXPECT_TRUE(read({}).entries.empty());
  EXPECT_TRUE(read(make_container({})).entries.empty());
}

TEST(Container, EveryFlippedBitCostsOneEntryOrIsRefused) {
  const std::vector<std::byte> good = three_entries();
  for (size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bad = good;
    bad[i] ^= static_cast<std::byte>(1 << (i % 8));
    if (i < kCount) {
      const ErrorCode code = thrown_by([&] { read(bad); }).code();
      EXPECT_EQ(code, i < kVersion ? ErrorCode::corrupt : ErrorCode::incompatible) << "byte " << i;
      continue;
    }
    const ContainerContent content = read(bad);
    for (const NamedEntry& named : content.entries) EXPECT_EQ(text_of(named), kThree.at(named.key)) << i;
    if (i < kHeader) continue;  // the count: rows are missed or looked for in vain
    const size_t in_row = (i - kHeader) % kRow;
    const bool in_rows = i < kHeader + 3 * kRow;
    const bool in_payload = [&] {
      for (size_t row = 0; row < 3; ++row) {
        const auto offset = number_at<uint64_t>(good, kHeader + row * kRow + kOffset);
        if (i >= offset && i < offset + number_at<uint64_t>(good, kHeader + row * kRow + kBytes)) return true;
      }
      return false;
    }();
    const size_t lost = (in_rows && in_row < kDigestEnd) || in_payload ? 1 : 0;
    EXPECT_EQ(content.entries.size(), 3 - lost) << "byte " << i;
    EXPECT_EQ(content.damaged, lost) << "byte " << i;
  }
}

TEST(Container, WhatIsLeftOfACutOneIsUsed) {
  const std::vector<std::byte> good = three_entries();
  size_t most = 0;
  for (size_t size = 1; size < good.size(); ++size) {
    const auto cut = std::span(good).first(size);
    if (size < kHeader) {
      EXPECT_EQ(thrown_by([&] { read(cut); }).code(), ErrorCode::corrupt) << size;
      continue;
    }
    const ContainerContent content = read(cut);
    for (const NamedEntry& named : content.entries) EXPECT_EQ(text_of(named), kThree.at(named.key)) << size;
    EXPECT_EQ(content.entries.size() + content.damaged, 3u) << size;
    most = std::max(most, content.entries.size());
  }
  EXPECT_EQ(most, 3u) << "the zeros at the end are not needed";
}

TEST(Container, RowsThatLieAreRefusedThoughTheirDigestsAreRight) {
  struct Lie {
    const char* what;
    std::function<void(std::vector<std::byte>&)> tell;
  };
  const size_t second = kHeader + kRow;
  const uint64_t first_offset = number_at<uint64_t>(three_entries(), kHeader + kOffset);
  const std::vector<Lie> lies = {
      {"beyond the end", [&](auto& b) { set_number(b, second + kBytes, b.size()); }},
      {"wraps around", [&](auto& b) { set_number(b, second + kBytes, ~uint64_t{0}); }},
      {"far away", [&](auto& b) { set_number(b, second + kOffset, ~uint64_t{63}); }},
      {"not aligned",
       [&](auto& b) { set_number(b, second + kOffset, number_at<uint64_t>(b, second + kOffset) + 1); }},
      {"inside the rows", [&](auto& b) { set_number(b, second + kOffset, 64); }},
      {"the payload of another", [&](auto& b) { set_number(b, second + kOffset, first_offset); }},
      {"key of another", [&](auto& b) { b[second] = std::byte{'a'}; }},
      {"key out of order", [&](auto& b) { b[second] = std::byte{'A'}; }},
      {"key with a slash", [&](auto& b) { b[second + 1] = std::byte{'/'}; }},
      {"hidden key", [&](auto& b) { b[second] = std::byte{'.'}; }},
      {"no key", [&](auto& b) { b[second] = std::byte{0}; }},
      {"key without end", [&](auto& b) { std::fill_n(b.begin() + second, 96, std::byte{'b'}); }},
  };
  for (const Lie& lie : lies) {
    std::vector<std::byte> bytes = three_entries();
    lie.tell(bytes);
    seal(bytes, 1);
    const ContainerContent content = read(bytes);
    EXPECT_EQ(texts_of(content.entries),
              (std::map<std::string, std::string>{{"a", kThree.at("a")}, {"c", kThree.at("c")}}))
        << lie.what;
    EXPECT_EQ(content.damaged, 1u) << lie.what;
  }
}

TEST(Container, AHugeCountCostsNothing) {
  std::vector<std::byte> bytes = three_entries();
  set_number(bytes, kCount, ~uint64_t{0});
  EXPECT_EQ(texts_of(read(bytes).entries).size() + 0, 0u)
      << "payloads before the end of the rows are refused";
}

TEST(Container, MergingKeepsTheLaterOfTwoAndTheLastUsedWithinTheLimit) {
  const auto merged =
      merge_entries({entry("a", "old", 1), entry("b", "new", 9)},
                    {entry("a", "new", 2), entry("b", "old", 3), entry("c", "third", 5)}, 1 << 20);
  EXPECT_EQ(texts_of(merged),
            (std::map<std::string, std::string>{{"a", "new"}, {"b", "new"}, {"c", "third"}}));
  const auto some = merge_entries({entry("a", "x", 1), entry("b", "x", 9)}, {entry("c", "x", 5)},
                                  kHeader + 2 * (kRow + 64));
  EXPECT_EQ(texts_of(some), (std::map<std::string, std::string>{{"b", "x"}, {"c", "x"}}));
}

class ContainerFile : public testing::Test {
 protected:
  void add(std::vector<NamedEntry> entries) const {
    update_container_file(path_, milliseconds(20000), [&](ContainerContent content) {
      return merge_entries(std::move(content.entries), std::move(entries), 1 << 20);
    });
  }
  std::map<std::string, std::string> texts() const {
    return texts_of(read_container_file(path_, CacheTrust::own).entries);
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  TempFolder folder_;
  const std::string path_ = folder_.file("app.cache");
};

TEST_F(ContainerFile, IsPrivateAndLeavesNothingBesideIt) {
  const mode_t before = umask(0);
  add({entry("a", "first")});
  umask(before);
  add({entry("b", "second")});
  EXPECT_EQ(texts(), (std::map<std::string, std::string>{{"a", "first"}, {"b", "second"}}));
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(ContainerFile, EachFaultHasItsCode) {
  const auto code = [&] { return thrown_by([&] { texts(); }).code(); };
  EXPECT_EQ(code(), ErrorCode::not_found);
  fs::create_directory(path_);
  EXPECT_EQ(code(), ErrorCode::invalid_argument);
  fs::remove(path_);
  folder_.write("app.cache", std::string(1000, 'x'));
  EXPECT_EQ(code(), ErrorCode::corrupt);
  fs::remove(path_);
  add({entry("a", "first")});
  chmod(path_.c_str(), 0666);
  EXPECT_EQ(code(), ErrorCode::device);
}

TEST_F(ContainerFile, WhatOthersOwnIsRefusedButRootMayShipIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  add({entry("a", "first")});
  EXPECT_TRUE(runs_in_child([&] {
    if (chmod(path_.c_str(), 0644) || chmod(folder_.path().c_str(), 0755) || setuid(kNobody)) return false;
    const bool shipped = read_container_file(path_, CacheTrust::shipped).entries.size() == 1;
    return shipped &&
           thrown_by([&] { read_container_file(path_, CacheTrust::own); }).code() == ErrorCode::device;
  }));
  ASSERT_EQ(chown(path_.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(thrown_by([&] { read_container_file(path_, CacheTrust::shipped); }).code(), ErrorCode::device);
}

TEST_F(ContainerFile, WhatIsNoCacheIsNeverReplaced) {
  const std::string model(1000, 'm');
  folder_.write("app.cache", model);
  chmod(path_.c_str(), 0600);
  EXPECT_EQ(thrown_by([&] { add({entry("a", "first")}); }).code(), ErrorCode::corrupt);
  EXPECT_EQ(read_file(path_), model);
  EXPECT_EQ(files(), 1u);
}

TEST_F(ContainerFile, AnotherFormatAndAnEmptyFileAreReplaced) {
  add({entry("a", "first")});
  std::string content = read_file(path_);
  content[kVersion] = 9;
  std::ofstream(path_, std::ios::binary) << content;
  add({entry("b", "second")});
  EXPECT_EQ(texts(), (std::map<std::string, std::string>{{"b", "second"}}));
  fs::resize_file(path_, 0);
  add({entry("c", "third")});
  EXPECT_EQ(texts(), (std::map<std::string, std::string>{{"c", "third"}}));
}

TEST_F(ContainerFile, AFullDiskKeepsWhatWasThere) {
  add({entry("a", "first")});
  EXPECT_TRUE(runs_in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {2048, 2048};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Error error = thrown_by([&] { add({entry("b", std::string(100000, 'x'))}); });
    return error.code() == ErrorCode::device;
  }));
  EXPECT_EQ(texts(), (std::map<std::string, std::string>{{"a", "first"}}));
  EXPECT_EQ(files(), 1u);
}

TEST_F(ContainerFile, ProcessesThatAddAtOnceLoseNothing) {
  constexpr int kProcesses = 6, kRounds = 8;
  std::vector<std::unique_ptr<Child>> children;
  for (int p = 0; p < kProcesses; ++p)
    children.push_back(std::make_unique<Child>([&, p] {
      for (int round = 0; round < kRounds; ++round) add({entry(fmt::format("k-{}-{}", p, round), "x")});
      return true;
    }));
  for (const auto& child : children) EXPECT_TRUE(child->succeeded());
  EXPECT_EQ(texts().size(), static_cast<size_t>(kProcesses * kRounds));
  EXPECT_EQ(files(), 1u);
}

TEST_F(ContainerFile, TheLockOfADeadProcessIsFreeAndThatOfAStuckOneIsGivenUp) {
  const std::string lock = folder_.file(".ingot-lock-app.cache");
  Child holder([&] {
    const EntryLock held = EntryLock::wait(lock, milliseconds(1000));
    pause();
    return true;
  });
  while (!fs::exists(lock)) usleep(1000);
  usleep(20000);
  const Error error = thrown_by([&] {
    update_container_file(path_, milliseconds(50), [](ContainerContent c) { return std::move(c.entries); });
  });
  EXPECT_EQ(error.code(), ErrorCode::device);
  holder.kill();
  add({entry("a", "first")});
  EXPECT_EQ(texts().size(), 1u);
  EXPECT_EQ(files(), 1u) << "nor does its lock stay";
}

TEST_F(ContainerFile, OldTemporariesOfOthersGo) {
  folder_.write(".ingot-1-1.tmp", "left behind");
  folder_.write(".ingot-2-1.tmp", "being written");
  fs::last_write_time(folder_.file(".ingot-1-1.tmp"),
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  add({entry("a", "first")});
  EXPECT_FALSE(fs::exists(folder_.file(".ingot-1-1.tmp")));
  EXPECT_TRUE(fs::exists(folder_.file(".ingot-2-1.tmp")));
}

}  // namespace
}  // namespace ingot
