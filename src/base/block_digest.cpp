#include "base/block_digest.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace ingot {
namespace {

constexpr size_t kLanes = 8;  // independent, so that their multiplications overlap
constexpr size_t kBlock = kLanes * sizeof(uint64_t);
constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio

using State = std::array<uint64_t, kLanes>;

// Both halves of the product: every bit of a word changes many bits of its lane.
uint64_t mix(uint64_t value) {
  const auto product = static_cast<unsigned __int128>(value) * kOdd;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

void add_block(State& state, const std::byte* block) {
  State words;
  std::memcpy(words.data(), block, kBlock);
  for (size_t i = 0; i < kLanes; ++i) state[i] = mix(state[i] ^ words[i]);
}

}  // namespace

Digest block_digest(std::span<const std::byte> bytes) {
  struct {
    State lanes = {1, 2, 3, 4, 5, 6, 7, 8};
    uint64_t bytes;
  } state;
  state.bytes = bytes.size();
  const size_t whole = bytes.size() / kBlock * kBlock;
  for (size_t at = 0; at < whole; at += kBlock) add_block(state.lanes, bytes.data() + at);
  std::array<std::byte, kBlock> last = {};
  if (whole < bytes.size()) std::memcpy(last.data(), bytes.data() + whole, bytes.size() - whole);
  add_block(state.lanes, last.data());
  return sha256(std::as_bytes(std::span(&state, 1)));
}

}  // namespace ingot
