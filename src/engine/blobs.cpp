#include "engine/blobs.h"

#include "base/checked.h"
#include "engine/header.h"

namespace ingot {
namespace {

constexpr size_t kSample = 64;

std::string sample_of(std::span<const std::byte> bytes) {
  std::string out = fmt::format("{}:", bytes.size());
  for (size_t start : {size_t{0}, bytes.size() / 2, bytes.size() - std::min(bytes.size(), kSample)}) {
    auto part = bytes.subspan(start, std::min(kSample, bytes.size() - start));
    out.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return out;
}

}  // namespace

std::optional<BlobRange> blob_after(uint64_t end, uint64_t size) {
  auto offset = try_align_up<uint64_t>(end, size >= kPageSize ? kPageSize : kBlobAlignment);
  if (!offset || !try_add(*offset, size)) return std::nullopt;
  return BlobRange{*offset, size};
}

uint32_t BlobTable::add(const Tensor& tensor, const std::string& name) {
  std::vector<uint32_t>& candidates = by_sample_[sample_of(tensor.bytes())];
  std::optional<Digest> digest;
  for (uint32_t index : candidates)
    if (same_content(index, tensor, digest)) return index;
  auto index = checked_cast<uint32_t>(blobs_.size(), "number of constants");
  checked_cast<int32_t>(index, "number of constants");
  uint64_t size = tensor.bytes().size();
  auto range = blob_after(section_size(), size);
  if (!range) throw_overflow("weights section", fmt::format("{} + {}", section_size(), size));
  blobs_.push_back({tensor, name, *range, digest});
  weight_bytes_ += size;
  candidates.push_back(index);
  return index;
}

const Digest& BlobTable::digest(uint32_t index) {
  Blob& blob = blobs_.at(index);
  if (!blob.digest) blob.digest = sha256(blob.tensor.bytes());
  return *blob.digest;
}

bool BlobTable::same_content(uint32_t index, const Tensor& tensor, std::optional<Digest>& digest) {
  if (blobs_[index].tensor.bytes().data() == tensor.bytes().data()) return true;
  if (!digest) digest = sha256(tensor.bytes());
  return this->digest(index) == *digest;
}

}  // namespace ingot
