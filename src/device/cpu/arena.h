#pragma once

#include "ingot/tensor.h"

namespace ingot::cpu {

// Memory that grows and never shrinks; 64-byte aligned.
class Arena {
 public:
  std::byte* reserve(int64_t bytes) {
    if (memory_.count() < bytes || memory_.bytes().empty())
      memory_ = Tensor::allocate(DType::u8, {std::max(bytes, kAlignment)});
    return memory_.mutable_bytes().data();
  }

  static constexpr int64_t kAlignment = 64;

 private:
  Tensor memory_;
};

}  // namespace ingot::cpu
