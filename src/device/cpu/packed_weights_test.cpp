#include "device/cpu/packed_weights.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "ingot/error.h"
#include "support/child.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot::cpu {
namespace {

namespace fs = std::filesystem;

// Bytes that follow from the key and differ between keys.
void fill(const std::string& key, std::span<std::byte> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(i * 7 + key.size() + key.back());
}

struct Counted {
  std::shared_ptr<PackedWeights> weights;
  std::atomic<int> packed = 0;

  std::span<const std::byte> get(const std::string& key, size_t bytes) {
    return weights->get(key, bytes, [&](std::span<std::byte> out) {
      ++packed;
      fill(key, out);
    });
  }
  void expect(const std::string& key, size_t bytes) {
    std::vector<std::byte> expected(bytes);
    fill(key, expected);
    const auto got = get(key, bytes);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin(), expected.end())) << key;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(got.data()) % 64, 0u) << key;
  }
};

class PackedWeightsTest : public testing::Test {
 protected:
  std::shared_ptr<PackedWeights> open(const std::string& engine = "engine") {
    return std::make_shared<PackedWeights>(std::make_shared<Cache>(folder_.file("c")), engine);
  }
  std::string only_file() const {
    std::vector<std::string> files;
    for (const auto& file : fs::directory_iterator(folder_.file("c"))) files.push_back(file.path());
    EXPECT_EQ(files.size(), 1u);
    return files.at(0);
  }
  void fill_cache() {
    Counted first{open()};
    for (const auto& [key, bytes] : sizes_) first.expect(key, bytes);
    first.weights->publish();
  }

  TempFolder folder_;
  const std::map<std::string, size_t> sizes_ = {{"a", 1000}, {"b", 0}, {"c", 70001}, {"d", 64}};
};

TEST_F(PackedWeightsTest, PacksOncePerKey) {
  Counted weights{open()};
  weights.expect("a", 1000);
  const auto* first = weights.get("a", 1000).data();
  EXPECT_EQ(weights.get("a", 1000).data(), first);
  EXPECT_EQ(weights.packed, 1);
}

TEST_F(PackedWeightsTest, ASecondProcessPacksNothing) {
  fill_cache();
  Counted second{open()};
  for (const auto& [key, bytes] : sizes_) second.expect(key, bytes);
  EXPECT_EQ(second.packed, 0);
  EXPECT_EQ(second.weights->stats().mapped_bytes, 71065u);
  const auto written = fs::last_write_time(only_file());
  second.weights->publish();
  EXPECT_EQ(fs::last_write_time(only_file()), written) << "nothing new to write";
}

TEST_F(PackedWeightsTest, NewPiecesJoinTheFile) {
  fill_cache();
  Counted second{open()};
  for (const auto& [key, bytes] : sizes_) second.expect(key, bytes);
  second.expect("new", 5000);
  second.weights->publish();
  EXPECT_EQ(second.packed, 1);
  Counted third{open()};
  for (const auto& [key, bytes] : sizes_) third.expect(key, bytes);
  third.expect("new", 5000);
  EXPECT_EQ(third.packed, 0);
}

TEST_F(PackedWeightsTest, PublishesLaterWhatCameUntilThen) {
  for (int round = 0; round < 20; ++round) {
    const std::string engine = "engine " + std::to_string(round);
    {
      Counted first{open(engine)};
      for (int i = 0; i < 10; ++i) {
        first.expect("piece " + std::to_string(i), 20000);
        first.weights->publish_later();
      }
    }
    Counted second{open(engine)};
    for (int i = 0; i < 10; ++i) second.expect("piece " + std::to_string(i), 20000);
    EXPECT_EQ(second.packed, 0);
  }
}

TEST_F(PackedWeightsTest, EnginesDoNotShare) {
  fill_cache();
  Counted other{open("another engine")};
  other.expect("a", 1000);
  EXPECT_EQ(other.packed, 1);
}

TEST_F(PackedWeightsTest, DamageAnywhereIsPackedAgain) {
  fill_cache();
  const std::string file = only_file();
  const std::string good = read_file(file);
  for (size_t at = 0; at < good.size(); at += at < 700 ? 1 : 997) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    std::ofstream(file, std::ios::binary) << bad;
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    Counted weights{open()};
    for (const auto& [key, bytes] : sizes_) weights.expect(key, bytes);
  }
}

TEST_F(PackedWeightsTest, ADamagedPieceIsReplacedInTheFile) {
  fill_cache();
  std::string bad = read_file(only_file());
  bad.back() = static_cast<char>(bad.back() ^ 1);
  std::ofstream(only_file(), std::ios::binary) << bad;
  Counted second{open()};
  for (const auto& [key, bytes] : sizes_) second.expect(key, bytes);
  EXPECT_EQ(second.packed, 1);
  EXPECT_EQ(second.weights->stats().damaged_pieces, 1u);
  second.weights->publish();
  Counted third{open()};
  for (const auto& [key, bytes] : sizes_) third.expect(key, bytes);
  EXPECT_EQ(third.packed, 0);
}

TEST_F(PackedWeightsTest, AnotherSizeInTheFileIsPackedAgain) {
  fill_cache();
  Counted second{open()};
  second.expect("a", 2000);
  EXPECT_EQ(second.packed, 1);
}

TEST_F(PackedWeightsTest, AnotherSizeOfTheSamePieceIsAFault) {
  Counted weights{open()};
  weights.get("a", 1000);
  EXPECT_EQ(thrown_by([&] { weights.get("a", 1001); }).code(), ErrorCode::internal);
}

TEST_F(PackedWeightsTest, WorksWithoutACache) {
  Counted weights{std::make_shared<PackedWeights>(nullptr, "engine")};
  weights.expect("a", 1000);
  weights.weights->publish();
  weights.expect("b", 40 << 20);
}

TEST_F(PackedWeightsTest, AFailedPackingIsTriedAgain) {
  Counted weights{open()};
  const auto fail = [](std::span<std::byte>) { throw Error({.code = ErrorCode::cancelled}); };
  EXPECT_EQ(thrown_by([&] { weights.weights->get("a", 10, fail); }).code(), ErrorCode::cancelled);
  weights.expect("a", 10);
}

TEST_F(PackedWeightsTest, ThreadsShareThePacking) {
  Counted weights{open()};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        weights.expect("piece " + std::to_string(i), 1000 + static_cast<size_t>(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(weights.packed, 50);
}

TEST_F(PackedWeightsTest, AnImpossibleSizeIsOutOfMemory) {
  Counted weights{open()};
  EXPECT_EQ(thrown_by([&] { weights.get("a", size_t{1} << 60); }).code(), ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace ingot::cpu
