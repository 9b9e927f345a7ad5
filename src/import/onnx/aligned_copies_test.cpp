#include "import/onnx/aligned_copies.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

class AlignedCopies : public testing::Test {
 protected:
  // `count` f32 elements, `shift` bytes after an aligned address.
  Tensor at(size_t shift, int64_t count) const {
    return Tensor::share(DType::f32, {count}, memory_.bytes().subspan(shift, static_cast<size_t>(count) * 4),
                         nullptr);
  }

  Tensor memory_ = Tensor::allocate(DType::u8, {1 << 20});
  std::vector<std::span<const std::byte>> released_;
  OnnxAlignedCopies copies_{[this](std::span<const std::byte> bytes) { released_.push_back(bytes); }};
};

TEST_F(AlignedCopies, AlignedTensorsAreNotCopied) {
  Tensor t = at(4, 100'000);
  EXPECT_EQ(copies_.aligned(t).bytes().data(), t.bytes().data());
  EXPECT_TRUE(released_.empty());
}

TEST_F(AlignedCopies, OthersAreCopiedOnceAndReleased) {
  memory_.mutable_bytes()[3 + 2] = std::byte{0x80};  // 1.0f, little-endian
  memory_.mutable_bytes()[3 + 3] = std::byte{0x3f};
  Tensor t = at(3, 100'000);
  Tensor copy = copies_.aligned(t);
  EXPECT_EQ(copy.data<float>()[0], 1.0f);
  EXPECT_TRUE(copy.identical(t));
  ASSERT_EQ(released_.size(), 1u);
  EXPECT_EQ(released_[0].data(), t.bytes().data());
  EXPECT_EQ(released_[0].size(), 400'000u);
  EXPECT_EQ(copies_.aligned(t.reshaped({100, 1000})).bytes().data(), copy.bytes().data());
  EXPECT_EQ(copies_.aligned(t.reshaped({100, 1000})).shape(), Shape({100, 1000}));
  EXPECT_EQ(released_.size(), 1u);
}

TEST_F(AlignedCopies, TheSameBytesAsAnotherTypeAreAnotherTensor) {
  (void)copies_.aligned(at(3, 8));
  Tensor t = Tensor::share(DType::i32, {8}, memory_.bytes().subspan(3, 32), nullptr);
  EXPECT_EQ(copies_.aligned(t).dtype(), DType::i32);
}

TEST_F(AlignedCopies, SmallTensorsShareTheirPagesAndAreNotReleased) {
  (void)copies_.aligned(at(1, 10));
  EXPECT_TRUE(released_.empty());
}

}  // namespace
}  // namespace ingot
