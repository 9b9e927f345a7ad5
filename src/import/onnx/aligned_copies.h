#pragma once

#include <functional>
#include <map>
#include <span>
#include <utility>

#include "ingot/tensor.h"

namespace ingot {

// Protobuf puts the weights inside a model file at any address. Those that no code may read as numbers where
// they lie are copied once, however often the import meets them, and the memory of the original is given
// back, so that a large model is in memory once. One thread at a time.
class OnnxAlignedCopies {
 public:
  using Release = std::function<void(std::span<const std::byte>)>;

  // `release` gets bytes that are not likely to be read again.
  explicit OnnxAlignedCopies(Release release) : release_(std::move(release)) {}

  // The tensor itself where its elements are aligned.
  Tensor aligned(const Tensor& tensor);

 private:
  Release release_;
  std::map<std::pair<const std::byte*, size_t>, Tensor> copies_;  // by the bytes of the original
};

}  // namespace ingot
