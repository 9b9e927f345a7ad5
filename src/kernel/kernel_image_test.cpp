#include "kernel/kernel_image.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ingot::kernel {
namespace {

std::vector<std::byte> code(size_t size, int value) { return std::vector<std::byte>(size, std::byte(value)); }

struct alignas(64) Aligned {
  std::byte bytes[4096];
};

// An image at an aligned place, as files and the embedded image are.
class ImageTest : public testing::Test {
 protected:
  ImageTest() {
    for (int i = 0; i < 20; ++i) codes_.push_back(code(1 + static_cast<size_t>(i) * 5, i));
    for (int i = 0; i < 20; ++i) kernels_[key(i)] = codes_[static_cast<size_t>(i)];
    place(make_image(kernels_));
  }
  static Digest key(int i) { return sha256(std::to_string(i)); }
  void place(const std::vector<std::byte>& image) {
    ASSERT_LE(image.size(), sizeof(place_));
    std::memcpy(place_.bytes, image.data(), image.size());
    size_ = image.size();
  }
  std::optional<KernelImage> open() const { return KernelImage::open({place_.bytes, size_}); }
  void write(size_t offset, uint64_t value) { std::memcpy(place_.bytes + offset, &value, sizeof(value)); }

  std::vector<std::vector<std::byte>> codes_;
  std::map<Digest, std::span<const std::byte>> kernels_;
  Aligned place_;
  size_t size_ = 0;
};

TEST_F(ImageTest, FindsEveryKernelAtAnAlignedPlace) {
  const auto image = open();
  ASSERT_TRUE(image);
  EXPECT_EQ(image->size(), 20u);
  for (int i = 0; i < 20; ++i) {
    const auto found = image->find(key(i));
    const auto& expected = codes_[static_cast<size_t>(i)];
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end())) << i;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found.data()) % 64, 0u) << i;
  }
  EXPECT_TRUE(image->find(key(20)).empty());
  EXPECT_EQ(image->kernels().size(), 20u);
}

TEST_F(ImageTest, AnEmptyImageHasNothing) {
  place(make_image({}));
  ASSERT_TRUE(open());
  EXPECT_TRUE(open()->find(key(0)).empty());
}

TEST_F(ImageTest, CutImagesAreNone) {
  const size_t whole = size_;
  for (size_ = 0; size_ < whole; ++size_) EXPECT_FALSE(open()) << size_;
}

TEST_F(ImageTest, WrongNumbersAreNoImage) {
  constexpr size_t kCount = 8, kFirstOffset = 16 + 32, kFirstBytes = 16 + 40;
  const Aligned good = place_;
  for (const auto& [offset, value] : {std::pair<size_t, uint64_t>{0, 0},
                                      {kCount, 100},
                                      {kCount, ~uint64_t{0}},
                                      {kFirstOffset, 1},
                                      {kFirstOffset, 1 << 20},
                                      {kFirstOffset, ~uint64_t{63}},
                                      {kFirstBytes, 0},
                                      {kFirstBytes, 1 << 20},
                                      {kFirstBytes, ~uint64_t{0}}}) {
    place_ = good;
    write(offset, value);
    EXPECT_FALSE(open()) << offset << " " << value;
  }
}

}  // namespace
}  // namespace ingot::kernel
