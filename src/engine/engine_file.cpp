#include "engine/engine_file.h"

#include "base/checked.h"
#include "base/guarded.h"
#include "base/thread_pool.h"
#include "engine/byte_sink.h"
#include "engine/decode_metadata.h"
#include "engine/encode_metadata.h"
#include "engine/header.h"
#include "ingot/error.h"
#include "ingot/version.h"

namespace ingot {
namespace {

constexpr size_t kChunk = size_t{4} << 20;

Digest digest_at(std::span<const std::byte> bytes, size_t offset) {
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = std::to_integer<uint8_t>(bytes[offset + i]);
  return digest;
}

[[noreturn]] void fail(std::string_view name, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::corrupt,
               .object = "engine file",
               .name = std::string(name),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "Copy the file again, or build it again with 'ingot compile'."});
}

void check_digest(std::string_view name, std::string_view section, std::span<const std::byte> bytes,
                  const Digest& stored) {
  Digest actual = sha256(bytes);
  if (actual != stored) fail(name, fmt::format("{} of SHA-256 {}", section, to_hex(stored)), to_hex(actual));
}

// Whether a section is not what was written.
bool has_other_content(std::span<const std::byte> bytes) {
  const EngineHeader header = decode_header(bytes);
  return sha256(bytes.subspan(kMetadataOffset, header.metadata_size)) != digest_at(bytes, kHeaderSize) ||
         sha256(bytes.subspan(header.weights_offset)) != digest_at(bytes, kHeaderSize + 32);
}

void check_zeros(std::string_view name, std::span<const std::byte> bytes, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i)
    if (bytes[i] != std::byte{0})
      fail(name, fmt::format("zero padding from {} to {}", begin, end), "other bytes");
}

// What the builder of the graph objects to, the file is to blame for.
EngineContent decode(const EngineSections& sections, std::string_view name) {
  try {
    return decode_metadata(sections);
  } catch (const Error& e) {
    ErrorCode code = e.code() == ErrorCode::invalid_argument || e.code() == ErrorCode::unsupported
                         ? ErrorCode::corrupt
                         : e.code();
    ErrorParts inside = e.parts();
    inside.remedy.clear();  // the file's own follows
    throw Error({.code = code,
                 .object = "engine file",
                 .name = std::string(name),
                 .expected = {},
                 .observed = Error(std::move(inside)).what(),
                 .remedy = code == ErrorCode::corrupt ? "Build it again with 'ingot compile'." : ""});
  }
}

EngineSections sections_of(const EngineHeader& header, const EnginePieces& pieces, std::string_view name) {
  auto metadata = pieces.start.subspan(kMetadataOffset, header.metadata_size);
  check_digest(name, "metadata", metadata, digest_at(pieces.start, kHeaderSize));
  return {header, metadata, pieces.weights, pieces.owner, pieces.is_deferred};
}

EngineContent read_whole(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                         std::string_view name) {
  const EngineHeader header = checked_header(bytes, bytes.size(), name);
  const EnginePieces pieces{bytes.first(header.weights_offset), bytes.subspan(header.weights_offset),
                            std::move(owner)};
  return decode(sections_of(header, pieces, name), name);
}

// Hashes the weights section while it is written.
class SectionWriter {
 public:
  SectionWriter(ByteSink& sink, ThreadPool* pool, uint64_t total,
                const std::function<void(uint64_t, uint64_t)>& progress)
      : sink_(sink), pool_(pool), total_(total), progress_(progress) {}

  void pad_to(uint64_t offset) {
    const std::vector<std::byte> zeros(offset - done_);
    append(zeros);
  }

  void append(std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kChunk))) {
      write_chunk(bytes.first(std::min(bytes.size(), kChunk)));
      if (progress_) progress_(done_, total_);
    }
  }

  Digest finish() { return sha_.finish(); }

 private:
  void write_chunk(std::span<const std::byte> chunk) {
    if (pool_ != nullptr && chunk.size() == kChunk) {
      pool_->parallel_for(
          2, 1, [&](int64_t part, int64_t, int) { part == 0 ? sink_.append(chunk) : sha_.update(chunk); });
    } else {
      sink_.append(chunk);
      sha_.update(chunk);
    }
    done_ += chunk.size();
  }

  ByteSink& sink_;
  ThreadPool* pool_;
  uint64_t total_;
  uint64_t done_ = 0;
  const std::function<void(uint64_t, uint64_t)>& progress_;
  Sha256 sha_;
};

EngineHeader make_header(const EngineContent& content, const BlobTable& blobs, uint64_t metadata_size) {
  uint64_t metadata_end = kMetadataOffset + metadata_size;
  uint64_t section = content.stripped ? 0 : blobs.section_size();
  EngineHeader header;
  header.format_version = kEngineFormatVersion;
  header.oldest_reader = kOldestEngineFormatVersion;
  header.flags =
      (content.profiles.empty() ? 0 : kHasProfiles) | (content.refit == RefitMode::none ? 0 : kRefittable);
  header.features = features_of(content.graph) | (content.stripped ? kStrippedWeights : 0);
  header.producer_version = producer_version();
  header.weights_offset = section == 0 ? metadata_end : *try_align_up(metadata_end, kPageSize);
  header.file_size = checked_add(header.weights_offset, section, "engine file");
  header.weight_bytes = blobs.weight_bytes();
  header.metadata_offset = kMetadataOffset;
  header.metadata_size = checked_cast<uint32_t>(metadata_size, "engine metadata");
  return header;
}

}  // namespace

EngineContent read_engine(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          std::string_view name) {
  return guarded("engine file", name, [&] {
    if (reinterpret_cast<uintptr_t>(bytes.data()) % kBlobAlignment != 0) {
      auto copy = std::make_shared<Tensor>(Tensor::allocate(DType::u8, {static_cast<int64_t>(bytes.size())}));
      std::ranges::copy(bytes, copy->mutable_bytes().begin());
      return read_whole(copy->bytes(), copy, name);
    }
    return read_whole(bytes, std::move(owner), name);
  });
}

EngineContent read_engine(const EnginePieces& pieces, std::string_view name) {
  return guarded("engine file", name, [&] {
    const uint64_t size = pieces.is_deferred && pieces.start.size() >= kHeaderSize
                              ? decode_header(pieces.start).file_size
                              : pieces.start.size() + pieces.weights.size();
    const EngineHeader header = checked_header(pieces.start, size, name);
    if (pieces.start.size() != header.weights_offset)
      fail(name, fmt::format("{} bytes before the weights", header.weights_offset),
           fmt::format("{}", pieces.start.size()));
    return decode(sections_of(header, pieces, name), name);
  });
}

void verify_weights(std::span<const std::byte> start, std::span<const std::byte> weights,
                    std::string_view name) {
  check_digest(name, "weights", weights, digest_at(start, kHeaderSize + 32));
}

void verify_engine(std::span<const std::byte> bytes, std::string_view name) {
  (void)read_engine(bytes, nullptr, name);
  EngineHeader header = decode_header(bytes);
  check_zeros(name, bytes, uint64_t{header.metadata_offset} + header.metadata_size, header.weights_offset);
  verify_weights(bytes, bytes.subspan(header.weights_offset), name);
}

std::vector<EngineFinding> find_damage(std::span<const std::byte> bytes, std::string_view name) {
  try {
    verify_engine(bytes, name);
    return {};
  } catch (const Error& e) {
    const ErrorParts& parts = e.parts();
    EngineFinding finding{.reason = EngineReason::malformed, .text = parts.observed, .remedy = parts.remedy};
    if (!parts.expected.empty())
      finding.text = fmt::format("expected {}, found {}", parts.expected, parts.observed);
    if (e.code() == ErrorCode::incompatible) finding.reason = EngineReason::missing_feature;
    if (has_other_content(bytes)) finding.reason = EngineReason::hash_mismatch;
    return {std::move(finding)};
  }
}

Digest engine_digest(std::span<const std::byte> bytes) {
  if (bytes.size() < kMetadataOffset)
    fail("in memory", fmt::format("at least {} bytes", kMetadataOffset), fmt::format("{}", bytes.size()));
  return sha256(bytes.first(kMetadataOffset));
}

WrittenEngine write_engine(const EngineContent& content, ByteSink& sink, ThreadPool* pool,
                           const std::function<void(uint64_t, uint64_t)>& progress) {
  BlobTable blobs;
  std::vector<std::byte> metadata = encode_metadata(content, blobs);
  EngineHeader header = make_header(content, blobs, metadata.size());
  sink.reserve(header.file_size);

  std::vector<std::byte> start(kMetadataOffset);
  sink.append(start);
  sink.append(metadata);
  SectionWriter section(sink, pool, header.file_size - header.weights_offset, progress);
  if (header.file_size > header.weights_offset) {
    sink.append(std::vector<std::byte>(header.weights_offset - kMetadataOffset - metadata.size()));
    for (const auto& blob : blobs.blobs()) {
      section.pad_to(blob.range.offset);
      section.append(blob.tensor.bytes());
    }
  }

  auto encoded = encode_header(header);
  Digest digests[] = {sha256(metadata), section.finish()};
  std::ranges::copy(encoded, start.begin());
  std::ranges::copy(std::as_bytes(std::span(digests)), start.begin() + kHeaderSize);
  sink.write_at(0, start);
  return {header.file_size, header.weight_bytes, sha256(start)};
}

}  // namespace ingot
