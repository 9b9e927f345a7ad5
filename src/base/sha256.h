#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

using Digest = std::array<uint8_t, 32>;

// SHA-256 (FIPS 180-4) of bytes that arrive in pieces. One thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  Digest finish();  // the digest of all updates; afterwards the object starts anew

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest sha256(std::span<const std::byte> bytes);
Digest sha256(std::string_view text);

std::string to_hex(const Digest& digest);                      // 64 lower-case digits
std::optional<Digest> digest_from_hex(std::string_view text);  // either case; nothing unless 64 hex digits

}  // namespace ingot
