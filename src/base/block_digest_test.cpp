#include "base/block_digest.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace ingot {
namespace {

std::vector<std::byte> random_bytes(size_t count) {
  std::mt19937 generator(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(generator());
  return bytes;
}

TEST(BlockDigest, EveryFlippedBitChangesIt) {
  std::vector<std::byte> bytes = random_bytes(333);
  std::set<Digest> seen = {block_digest(bytes)};
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1 << bit % 8);
    bytes[bit / 8] ^= mask;
    EXPECT_TRUE(seen.insert(block_digest(bytes)).second) << bit;
    bytes[bit / 8] ^= mask;
  }
}

TEST(BlockDigest, EqualFlipsInTwoPlacesDoNotCancel) {
  std::vector<std::byte> bytes = random_bytes(1024);
  const Digest before = block_digest(bytes);
  for (size_t second = 64; second < bytes.size(); second += 64) {  // the same lane
    for (const size_t at : {size_t{7}, second + 7}) bytes[at] ^= std::byte{0x80};
    EXPECT_NE(block_digest(bytes), before) << second;
    for (const size_t at : {size_t{7}, second + 7}) bytes[at] ^= std::byte{0x80};
  }
}

TEST(BlockDigest, DependsOnLengthAndOrder) {
  std::set<Digest> seen;
  for (size_t size = 0; size < 300; ++size) seen.insert(block_digest(std::vector<std::byte>(size)));
  EXPECT_EQ(seen.size(), 300u);
  std::vector<std::byte> bytes = random_bytes(256);
  const Digest before = block_digest(bytes);
  std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
  EXPECT_NE(block_digest(bytes), before);
}

}  // namespace
}  // namespace ingot
