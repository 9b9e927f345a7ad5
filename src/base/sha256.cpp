#include "base/sha256.h"

#include <openssl/evp.h>

#include "base/bytes.h"
#include "ingot/error.h"

namespace ingot {
namespace {

void require(int ok, const char* call) {
  if (ok == 1) return;
  throw Error({.code = ErrorCode::internal, .object = "SHA-256", .observed = std::string(call) + " failed"});
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() { start(); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  void start() { require(context && EVP_DigestInit_ex(context, EVP_sha256(), nullptr), "EVP_DigestInit_ex"); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()), "EVP_DigestUpdate");
}

void Sha256::update(std::string_view text) { update(bytes_of(text)); }

Digest Sha256::finish() {
  Digest digest;
  require(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr), "EVP_DigestFinal_ex");
  state_->start();
  return digest;
}

Digest sha256(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Digest sha256(std::string_view text) { return sha256(bytes_of(text)); }

std::string to_hex(const Digest& digest) { return fmt::format("{:02x}", fmt::join(digest, "")); }

std::optional<Digest> digest_from_hex(std::string_view text) {
  Digest digest;
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (size_t i = 0; i < digest.size(); ++i) {
    int high = hex_value(text[2 * i]);
    int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<uint8_t>(16 * high + low);
  }
  return digest;
}

}  // namespace ingot
