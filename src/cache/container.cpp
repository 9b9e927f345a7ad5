#include "cache/container.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr char kMagic[8] = {'I', 'N', 'G', 'O', 'T', 'R', 'T', 'C'};
constexpr uint32_t kFormatVersion = 1;
constexpr uint64_t kAlignment = 64;
constexpr size_t kDigestedBytes = 216;  // of a row, before the payload
constexpr std::string_view kObject = "runtime cache";

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t row_bytes;
  uint64_t count;
  uint64_t total_bytes;
  uint8_t padding[32];
};
static_assert(sizeof(Header) == kAlignment);

// Sorted by key, as are the payloads.
struct Row {
  char key[96];  // zeros behind it
  StoredInfo info;
  uint64_t offset;
  uint64_t bytes;
  int64_t used_seconds;
  Digest digest;
  uint64_t padding;
};
static_assert(sizeof(Row) == 256 && offsetof(Row, digest) == kDigestedBytes);

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

Digest digest_of(const Row& row, std::span<const std::byte> payload) {
  Sha256 sha;
  sha.update(std::as_bytes(std::span(&row, 1)).first(kDigestedBytes));
  sha.update(payload);
  return sha.finish();
}

Row row_of(const NamedEntry& named, uint64_t offset) {
  Row row = {};
  named.key.copy(row.key, sizeof(row.key) - 1);
  row.info = to_stored(named.entry->info());
  row.offset = offset;
  row.bytes = named.entry->payload().size();
  row.used_seconds = named.used_seconds;
  row.digest = digest_of(row, named.entry->payload());
  return row;
}

template <class T>
void write(std::vector<std::byte>& bytes, size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

Header read_header(std::span<const std::byte> bytes, const std::string& name) {
  Header header = {};
  std::memcpy(&header, bytes.data(), std::min(sizeof(header), bytes.size()));
  if (bytes.size() < sizeof(header) || std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    throw Error({.code = ErrorCode::corrupt,
                 .object = std::string(kObject),
                 .name = name,
                 .expected = "the bytes of a runtime cache",
                 .observed = bytes.size() < sizeof(header) ? fmt::format("{} bytes", bytes.size())
                                                           : "bytes of something else",
                 .remedy = "Delete it if it is not needed; a runtime cache is made again."});
  if (header.version != kFormatVersion || header.row_bytes != sizeof(Row))
    throw Error({.code = ErrorCode::incompatible,
                 .object = std::string(kObject),
                 .name = name,
                 .expected = fmt::format("format {}", kFormatVersion),
                 .observed = fmt::format("format {}, rows of {} bytes", header.version, header.row_bytes),
                 .remedy = "Use the version of Ingot that wrote it, or delete it; it is made again."});
  return header;
}

std::string key_of(const Row& row) {
  std::string key(row.key, strnlen(row.key, sizeof(row.key)));
  return is_cache_key(key) ? key : "";
}

}  // namespace

std::vector<std::byte> make_container(std::vector<NamedEntry> entries) {
  std::ranges::sort(entries, {}, &NamedEntry::key);
  std::vector<std::byte> bytes(sizeof(Header) + entries.size() * sizeof(Row));
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto payload = entries[i].entry->payload();
    write(bytes, sizeof(Header) + i * sizeof(Row), row_of(entries[i], bytes.size()));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    bytes.resize(aligned(bytes.size()));
  }
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kFormatVersion;
  header.row_bytes = sizeof(Row);
  header.count = entries.size();
  header.total_bytes = bytes.size();
  write(bytes, 0, header);
  return bytes;
}

// Payloads must follow each other, so that no byte is looked at twice however many rows there are.
ContainerContent read_container(const std::shared_ptr<const Mapping>& memory, const std::string& name) {
  ContainerContent content;
  const auto bytes = memory->bytes();
  if (bytes.empty()) return content;
  const Header header = read_header(bytes, name);
  const uint64_t present = std::min<uint64_t>(header.count, (bytes.size() - sizeof(Header)) / sizeof(Row));
  content.damaged = header.count - present;
  uint64_t end = sizeof(Header) + present * sizeof(Row);
  std::string last_key;
  for (uint64_t i = 0; i < present; ++i) {
    Row row;
    std::memcpy(&row, bytes.data() + sizeof(Header) + i * sizeof(Row), sizeof(Row));
    const std::string key = key_of(row);
    const bool in_place = row.offset % kAlignment == 0 && row.offset >= end && key > last_key &&
                          range_fits(row.offset, row.bytes, bytes.size());
    if (!in_place || row.digest != digest_of(row, bytes.subspan(row.offset, row.bytes))) {
      ++content.damaged;
      continue;
    }
    end = row.offset + row.bytes;
    last_key = key;
    content.entries.push_back(
        {key,
         std::make_shared<CacheEntry>(from_stored(row.info), memory, bytes.subspan(row.offset, row.bytes)),
         row.used_seconds});
  }
  return content;
}

std::vector<NamedEntry> merge_entries(std::vector<NamedEntry> into, std::vector<NamedEntry> added,
                                      uint64_t limit_bytes) {
  std::map<std::string, NamedEntry> merged;
  for (std::vector<NamedEntry>* entries : {&into, &added})
    for (NamedEntry& entry : *entries) {
      NamedEntry& place = merged[entry.key];
      if (!place.entry || place.used_seconds <= entry.used_seconds) place = std::move(entry);
    }
  std::vector<NamedEntry> result;
  for (auto& [key, entry] : merged) result.push_back(std::move(entry));
  std::ranges::stable_sort(result, std::greater(), &NamedEntry::used_seconds);
  uint64_t bytes = sizeof(Header);
  const auto beyond = std::ranges::find_if(result, [&](const NamedEntry& entry) {
    bytes += sizeof(Row) + aligned(entry.entry->payload().size());
    return bytes > limit_bytes;
  });
  result.erase(beyond, result.end());
  return result;
}

}  // namespace ingot
