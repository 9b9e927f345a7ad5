#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "ingot/tensor.h"

namespace ingot {

// A range of the weights section.
struct BlobRange {
  uint64_t offset = 0;
  uint64_t size = 0;

  uint64_t end() const { return offset + size; }
};

// Where a blob of `size` bytes lies that follows one that ends at `end`: at the first multiple of 4096 (64
// for blobs below 4096 bytes). Nothing where that or its end does not fit 64 bits.
std::optional<BlobRange> blob_after(uint64_t end, uint64_t size);

// The large constants of an engine, equal ones once, in the order of their first use.
class BlobTable {
 public:
  struct Blob {
    Tensor tensor;
    std::string name;
    BlobRange range;
    std::optional<Digest> digest;  // where it was needed
  };

  uint32_t add(const Tensor& tensor, const std::string& name);

  const std::vector<Blob>& blobs() const { return blobs_; }
  const Digest& digest(uint32_t index);
  uint64_t section_size() const { return blobs_.empty() ? 0 : blobs_.back().range.end(); }
  uint64_t weight_bytes() const { return weight_bytes_; }

 private:
  bool same_content(uint32_t index, const Tensor& tensor, std::optional<Digest>& digest);

  std::vector<Blob> blobs_;
  uint64_t weight_bytes_ = 0;
  // Size and a few bytes of the content -> blobs. Only where these agree is all of the content looked at.
  std::map<std::string, std::vector<uint32_t>> by_sample_;
};

}  // namespace ingot
