// Any bytes must either be read as a runtime cache, entry by entry, or be refused with an Error other than
// `internal`. Two forms, as the first byte says: input as it is, and input whose row digests are made right
// first, so that the fuzzer gets past them. What is read must survive being written and read again.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cache/container.h"
#include "ingot/error.h"

namespace ingot {
namespace {

// Where src/cache/FORMAT.md puts things.
constexpr size_t kHeader = 64, kRow = 256, kOffset = 192, kBytes = 200, kDigest = 216;

uint64_t number_at(const std::vector<std::byte>& bytes, size_t offset) {
  uint64_t value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

void seal(std::vector<std::byte>& bytes) {
  for (size_t row = kHeader; row + kRow <= bytes.size(); row += kRow) {
    Sha256 sha;
    sha.update(std::span(bytes).subspan(row, kDigest));
    const uint64_t offset = number_at(bytes, row + kOffset), size = number_at(bytes, row + kBytes);
    if (offset <= bytes.size() && size <= bytes.size() - offset)
      sha.update(std::span(bytes).subspan(offset, size));
    const Digest digest = sha.finish();
    std::memcpy(bytes.data() + row + kDigest, digest.data(), digest.size());
  }
}

void check(bool holds, const char* what) {
  if (holds) return;
  std::fputs(what, stderr);
  std::abort();
}

void read(std::span<const std::byte> input) {
  std::vector<std::byte> bytes(input.begin() + 1, input.end());
  if (input[0] != std::byte{0}) seal(bytes);
  const ContainerContent content = read_container(Mapping::copy_of(bytes), "fuzz");
  for (const NamedEntry& named : content.entries) {
    check(is_cache_key(named.key), "a key that is none");
    (void)sha256(named.entry->payload());
  }
  const auto again = read_container(Mapping::copy_of(make_container(content.entries)), "fuzz");
  check(again.damaged == 0 && again.entries.size() == content.entries.size(), "entries were lost");
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
