#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/sha256.h"

namespace ingot::kernel {

// The code of many kernels in one piece, found by the digest of their keys. A view: owns nothing.
class KernelImage {
 public:
  // Nothing where the bytes, which must lie at a multiple of 64, are no image.
  static std::optional<KernelImage> open(std::span<const std::byte> bytes);

  size_t size() const { return count_; }
  std::span<const std::byte> find(const Digest& key) const;  // empty where it is not there
  std::map<Digest, std::span<const std::byte>> kernels() const;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  KernelImage(std::span<const std::byte> bytes, size_t count) : bytes_(bytes), count_(count) {}

  std::span<const std::byte> bytes_;
  size_t count_;
};

std::vector<std::byte> make_image(const std::map<Digest, std::span<const std::byte>>& kernels);

}  // namespace ingot::kernel
