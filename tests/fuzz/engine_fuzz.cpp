// Any bytes must either become an engine or be refused with an Error other than `internal`, which would be
// our own fault. Two forms: input as a whole file, and input as the metadata of a file whose header and
// digests are right, so that the fuzzer gets past them. The first byte picks.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "engine/engine_file.h"
#include "engine/header.h"
#include "ingot/error.h"
#include "ingot/tensor.h"
#include "ingot/version.h"

namespace ingot {
namespace {

constexpr size_t kWeights = 8192;  // bytes of zeros behind the metadata, where the input asks for them

// The second byte gives the features, the third says whether there are weights, and which sum of their sizes
// the header names.
Tensor file_around(std::span<const std::byte> input) {
  auto metadata = input.subspan(std::min<size_t>(input.size(), 2));
  auto byte = [&](size_t i) { return i < input.size() ? std::to_integer<uint32_t>(input[i]) : 0u; };
  EngineHeader header{.format_version = kEngineFormatVersion, .oldest_reader = kOldestEngineFormatVersion};
  header.features = byte(0) & kKnownFeatures;
  header.metadata_offset = kMetadataOffset;
  header.metadata_size = static_cast<uint32_t>(metadata.size());
  uint64_t weights = byte(1) == 0 ? 0 : std::min<uint64_t>(kWeights, 1024 + byte(1) * 40);
  uint64_t end = kMetadataOffset + metadata.size();
  header.weights_offset = weights == 0 ? end : (end + kPageSize - 1) / kPageSize * kPageSize;
  header.weight_bytes = weights;
  header.file_size = header.weights_offset + weights;
  Tensor file = Tensor::allocate(DType::u8, {static_cast<int64_t>(header.file_size)});
  auto encoded = encode_header(header);
  Digest digest = sha256(metadata);
  std::memcpy(file.mutable_bytes().data(), encoded.data(), encoded.size());
  std::memcpy(file.mutable_bytes().data() + kHeaderSize, digest.data(), digest.size());
  std::ranges::copy(metadata, file.mutable_bytes().begin() + kMetadataOffset);
  return file;
}

void read(std::span<const std::byte> input) {
  if (input[0] == std::byte{0}) {
    (void)check_engine_header(input.subspan(1));
    verify_engine(input.subspan(1), "fuzz");
  } else {
    Tensor file = file_around(input.subspan(1));
    (void)read_engine(file.bytes(), nullptr, "fuzz");
  }
}

}  // namespace
}  // namespace ingot

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    ingot::read(std::as_bytes(std::span(data, size)));
  } catch (const ingot::Error& error) {
    if (error.code() != ingot::ErrorCode::internal) return 0;
    std::fputs(error.what(), stderr);
    std::abort();
  }
  return 0;
}
