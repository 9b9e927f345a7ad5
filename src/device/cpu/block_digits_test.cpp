#include "device/cpu/block_digits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace ingot::cpu {
namespace {

// One panel of 4-bit weights without zero points of their own: words and scales as BlockLayout says.
struct Panel {
  BlockLayout layout{.columns = 64, .depth = 256, .block = 64, .bits = 4, .zero = 8};
  std::vector<std::byte> bytes = std::vector<std::byte>(static_cast<size_t>(layout.panel_bytes()));

  Panel() {
    std::mt19937 random(3);
    for (int64_t block = 0; block < layout.blocks(); ++block) {
      std::byte* at = bytes.data() + block * layout.block_bytes();
      for (int64_t i = 0; i < layout.block_bytes(); i += 4) {
        const auto word = static_cast<uint32_t>(random());
        const float scale = static_cast<float>(random() % 1000 + 1) / 1000;
        std::memcpy(at + i, i < layout.scale_bytes() ? static_cast<const void*>(&scale) : &word, 4);
      }
    }
  }

  double product(const std::vector<float>& x, int64_t column) const {
    double sum = 0;
    for (int64_t k = 0; k < layout.depth; ++k) {
      const std::byte* block = bytes.data() + k / layout.block * layout.block_bytes();
      float scale = 0;
      uint32_t word = 0;
      std::memcpy(&scale, block + column * 4, 4);
      std::memcpy(&word, block + layout.scale_bytes() + (k % layout.block / 8 * 64 + column) * 4, 4);
      const double weight = static_cast<double>(word >> (k % 8 * 4) & 15) - 8;
      sum += static_cast<double>(x[static_cast<size_t>(k)]) * weight * static_cast<double>(scale);
    }
    return sum;
  }
};

class BlockDigits : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_block_digits(panel_.layout)) GTEST_SKIP() << "needs AVX-512 VNNI";
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (float& value : x_) value = normal(random);
  }

  bool make() { return make_block_digits(panel_.layout, x_.data(), digits_.data()); }

  Panel panel_;
  std::vector<float> x_ = std::vector<float>(256);
  std::vector<float> digits_ = std::vector<float>(static_cast<size_t>(block_digit_floats(panel_.layout)));
};

TEST_F(BlockDigits, AreAsGoodAsFloats) {
  x_[17] = 1e4f;  // numbers of very different sizes
  for (size_t k = 128; k < 192; ++k) x_[k] = 0;
  ASSERT_TRUE(make());
  std::vector<float> out(64);
  multiply_block_digits(panel_.layout, panel_.bytes.data(), digits_.data(), out.data());
  double error = 0, size = 0;
  for (int64_t c = 0; c < 64; ++c) {
    const double expected = panel_.product(x_, c);
    error += std::pow(static_cast<double>(out[static_cast<size_t>(c)]) - expected, 2);
    size += expected * expected;
  }
  EXPECT_LT(std::sqrt(error / size), 1e-6);
}

TEST_F(BlockDigits, RefuseWhatTheyCannotHold) {
  ASSERT_TRUE(make());
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    x_[200] = bad;
    EXPECT_FALSE(make()) << bad;
  }
  for (size_t k = 192; k < 256; ++k) x_[k] = 1e-35f;
  EXPECT_FALSE(make());
}

}  // namespace
}  // namespace ingot::cpu
