#pragma once

#include "ingot/tensor.h"

namespace ingot::cpu {

// Memory that grows and never shrinks; 64-byte aligned.
class Arena {
 public:
  // A block to use while it is large enough.
  void borrow(std::span<std::byte> block) { block_ = block; }

  std::byte* reserve(int64_t bytes) {
    if (!block_.empty() && bytes <= static_cast<int64_t>(block_.size())) return block_.data();
    if (memory_.count() < bytes || memory_.bytes().empty())
      memory_ = Tensor::allocate(DType::u8, {std::max(bytes, kAlignment)});
    return memory_.mutable_bytes().data();
  }

  static constexpr int64_t kAlignment = 64;

 private:
  std::span<std::byte> block_;
  Tensor memory_;
};

}  // namespace ingot::cpu
