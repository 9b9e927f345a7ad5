#include "engine/header.h"

#include <bit>
#include <charconv>
#include <cstring>

#include "ingot/error.h"
#include "ingot/version.h"

namespace ingot {
namespace {

static_assert(std::endian::native == std::endian::little,
              "engine files are read in place: little-endian only");

constexpr std::array<uint8_t, 8> kMagic = {0x89, 'I', 'N', 'G', 'O', 'T', '\r', '\n'};
constexpr size_t kChecksumOffset = 56;
constexpr uint64_t kMostWeightBytes = uint64_t{1} << 46;  // fits the address space of a process
constexpr std::string_view kRebuild = "Build it again with 'ingot compile'.";
constexpr std::string_view kUpgrade = "Open it with a newer Ingot, or build it again with this one.";
constexpr std::string_view kCopyAgain = "Copy the file again, or build it again with 'ingot compile'.";

constexpr auto kFeatureNames = std::to_array<std::string_view>(
    {"stripped weights", "subgraphs", "strings", "sub-byte types", "sequences and optionals"});

uint64_t checksum_of(std::span<const std::byte> header) {
  Digest digest = sha256(header.first(kChecksumOffset));
  uint64_t value;
  std::memcpy(&value, digest.data(), sizeof(value));
  return value;
}

template <class T>
void put(std::span<std::byte> bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

template <class T>
T get(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string names_of_features(uint32_t bits) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < 32; ++i) {
    if ((bits >> i & 1) == 0) continue;
    names.push_back(i < kFeatureNames.size() ? std::string(kFeatureNames[i]) : fmt::format("feature {}", i));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

struct Finding {
  EngineReason reason;
  std::string expected;
  std::string observed;
  std::string_view remedy;
};

bool is_fatal(EngineReason reason) {
  return reason != EngineReason::newer_format && reason != EngineReason::weights_stripped;
}

// What is wrong with a header, or noteworthy. Goes on only as long as what was read means something.
class HeaderCheck {
 public:
  HeaderCheck(std::span<const std::byte> bytes, const ValidityQuery& query) : bytes_(bytes), query_(query) {
    if (!check_integrity()) return;
    header = decode_header(bytes_);
    is_read = true;
    if (!check_version() || !check_layout()) return;
    check_features();
    check_file_size();
    check_memory();
  }

  EngineHeader header;
  bool is_read = false;
  std::vector<Finding> findings;

 private:
  bool add(EngineReason reason, std::string expected, std::string observed, std::string_view remedy) {
    findings.push_back({reason, std::move(expected), std::move(observed), remedy});
    return false;
  }

  bool check_integrity() {
    size_t n = std::min(bytes_.size(), kMagic.size());
    bool is_ours = n == kMagic.size() && std::memcmp(bytes_.data(), kMagic.data(), n) == 0;
    if (bytes_.size() < kHeaderSize)
      return add(is_ours ? EngineReason::truncated : EngineReason::malformed,
                 fmt::format("at least {} bytes", kHeaderSize), fmt::format("{}", bytes_.size()),
                 is_ours ? kCopyAgain : kRebuild);
    if (!is_ours) return add(EngineReason::malformed, "an engine file", "other first bytes", kRebuild);
    auto stored = get<uint64_t>(bytes_, kChecksumOffset), actual = checksum_of(bytes_);
    if (stored != actual)
      return add(EngineReason::hash_mismatch, fmt::format("header checksum {:016x}", actual),
                 fmt::format("{:016x}", stored), kCopyAgain);
    return true;
  }

  bool check_version() {
    if (header.format_version == 0 || header.oldest_reader > header.format_version)
      return add(EngineReason::malformed, "a format version not below its oldest reader",
                 fmt::format("version {} for readers from {}", header.format_version, header.oldest_reader),
                 kRebuild);
    if (header.oldest_reader > kEngineFormatVersion)
      return add(EngineReason::version_too_new,
                 fmt::format("format version {} at most", kEngineFormatVersion),
                 fmt::format("version {}, for readers from {}", header.format_version, header.oldest_reader),
                 kUpgrade);
    if (header.format_version < kOldestEngineFormatVersion)
      return add(EngineReason::version_too_old,
                 fmt::format("format version {} at least", kOldestEngineFormatVersion),
                 fmt::format("version {}", header.format_version), kRebuild);
    if (header.format_version > kEngineFormatVersion)
      add(EngineReason::newer_format, fmt::format("format version {}", kEngineFormatVersion),
          fmt::format("version {}, of which this build reads what it knows", header.format_version),
          kUpgrade);
    return true;
  }

  bool malformed(std::string expected, std::string observed) {
    return add(EngineReason::malformed, std::move(expected), std::move(observed), kRebuild);
  }

  bool check_layout() {
    const EngineHeader& h = header;
    if (h.metadata_offset != kMetadataOffset)
      return malformed(fmt::format("metadata at {}", kMetadataOffset), fmt::format("{}", h.metadata_offset));
    if (h.metadata_size == 0) return malformed("metadata", "none");
    uint64_t metadata_end = uint64_t{h.metadata_offset} + h.metadata_size;
    bool no_weights = h.weights_offset == metadata_end && h.file_size == metadata_end;
    if (!no_weights && (h.weights_offset % kPageSize != 0 || h.weights_offset < metadata_end))
      return malformed(
          fmt::format("weights at a multiple of {} behind the metadata's end, {}", kPageSize, metadata_end),
          fmt::format("{}", h.weights_offset));
    if (h.file_size < h.weights_offset)
      return malformed(fmt::format("a file of at least {} bytes", h.weights_offset),
                       fmt::format("{}", h.file_size));
    if (h.weight_bytes > kMostWeightBytes)
      return malformed(fmt::format("at most {} bytes of weights", kMostWeightBytes),
                       fmt::format("{}", h.weight_bytes));
    return true;
  }

  void check_features() {
    if (uint32_t unknown = header.features & ~kKnownFeatures; unknown != 0)
      add(EngineReason::missing_feature, fmt::format("only {}", names_of_features(kKnownFeatures)),
          names_of_features(unknown), kUpgrade);
    if ((header.features & kStrippedWeights) != 0)
      add(EngineReason::weights_stripped, "weights", "an engine whose weights were stripped",
          "It can be inspected; to run it, build it again without stripping.");
  }

  void check_file_size() {
    if (!query_.file_size || *query_.file_size == header.file_size) return;
    add(*query_.file_size < header.file_size ? EngineReason::truncated : EngineReason::oversized,
        fmt::format("{} bytes", header.file_size), fmt::format("{}", *query_.file_size), kCopyAgain);
  }

  void check_memory() {
    if (query_.memory && header.weight_bytes > *query_.memory)
      add(EngineReason::too_little_memory, fmt::format("{} bytes of memory for weights", header.weight_bytes),
          fmt::format("{}", *query_.memory), "Free memory, raise the limit, or use a smaller model.");
  }

  std::span<const std::byte> bytes_;
  const ValidityQuery& query_;
};

ErrorCode code_of(EngineReason reason) {
  switch (reason) {
    case EngineReason::version_too_new:
    case EngineReason::version_too_old:
    case EngineReason::missing_feature: return ErrorCode::incompatible;
    case EngineReason::too_little_memory: return ErrorCode::out_of_memory;
    default: return ErrorCode::corrupt;
  }
}

void collect_features(const Type& type, uint32_t& bits) {
  if (!type.is_tensor()) bits |= kContainers;
  if (type.element_dtype() == DType::string) bits |= kStrings;
  if (is_sub_byte(type.element_dtype())) bits |= kSubByteTypes;
}

}  // namespace

std::array<std::byte, kHeaderSize> encode_header(const EngineHeader& h) {
  std::array<std::byte, kHeaderSize> out{};
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  put(out, 8, h.format_version);
  put(out, 10, h.oldest_reader);
  put(out, 12, h.flags);
  put(out, 16, h.features);
  put(out, 20, h.producer_version);
  put(out, 24, h.file_size);
  put(out, 32, h.weights_offset);
  put(out, 40, h.weight_bytes);
  put(out, 48, h.metadata_offset);
  put(out, 52, h.metadata_size);
  put(out, kChecksumOffset, checksum_of(out));
  return out;
}

EngineHeader decode_header(std::span<const std::byte> bytes) {
  return {.format_version = get<uint16_t>(bytes, 8),
          .oldest_reader = get<uint16_t>(bytes, 10),
          .flags = get<uint32_t>(bytes, 12),
          .features = get<uint32_t>(bytes, 16),
          .producer_version = get<uint32_t>(bytes, 20),
          .file_size = get<uint64_t>(bytes, 24),
          .weights_offset = get<uint64_t>(bytes, 32),
          .weight_bytes = get<uint64_t>(bytes, 40),
          .metadata_offset = get<uint32_t>(bytes, 48),
          .metadata_size = get<uint32_t>(bytes, 52)};
}

EngineHeader checked_header(std::span<const std::byte> start, uint64_t file_size, std::string_view name) {
  HeaderCheck check(start, {.file_size = file_size, .memory = std::nullopt});
  for (Finding& f : check.findings) {
    if (!is_fatal(f.reason)) continue;
    throw Error({.code = code_of(f.reason),
                 .object = "engine file",
                 .name = std::string(name),
                 .expected = std::move(f.expected),
                 .observed = std::move(f.observed),
                 .remedy = std::string(f.remedy)});
  }
  return check.header;
}

EngineValidity check_engine_header(std::span<const std::byte> bytes, const ValidityQuery& query) {
  HeaderCheck check(bytes, query);
  EngineValidity out;
  for (const Finding& f : check.findings) {
    out.reasons |= static_cast<uint32_t>(f.reason);
    out.findings.push_back(
        {f.reason, fmt::format("expected {}, found {}", f.expected, f.observed), std::string(f.remedy)});
    out.status = std::max(out.status, is_fatal(f.reason) ? EngineStatus::invalid : EngineStatus::suboptimal);
  }
  if (check.is_read) {
    out.format_version = check.header.format_version;
    out.producer = producer_text(check.header.producer_version);
    out.file_size = check.header.file_size;
    out.weight_bytes = check.header.weight_bytes;
  }
  return out;
}

uint32_t producer_version() {
  std::string_view text = version();
  std::array<uint32_t, 3> parts{};
  const char* at = text.data();
  for (uint32_t& part : parts) {
    at = std::from_chars(at, text.data() + text.size(), part).ptr;
    if (at != text.data() + text.size()) ++at;
  }
  return parts[0] << 24 | parts[1] << 16 | parts[2];
}

std::string producer_text(uint32_t version) {
  return fmt::format("Ingot {}.{}.{}", version >> 24, version >> 16 & 0xff, version & 0xffff);
}

uint32_t features_of(const Graph& graph) {
  uint32_t bits = 0;
  for (const Node& node : graph.nodes()) {
    for (const Type& type : node.types) collect_features(type, bits);
    if (!node.subgraphs.empty()) bits |= kSubgraphs;
    for (const GraphPtr& g : node.subgraphs) bits |= features_of(*g);
  }
  return bits;
}

}  // namespace ingot
