#include "base/sha256.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

// Messages and digests from NIST FIPS 180-4 examples and the CAVP byte-oriented test vectors.
constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kMillionA = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256Test, MatchesTheNistVectors) {
  EXPECT_EQ(to_hex(sha256("")), kEmpty);
  EXPECT_EQ(to_hex(sha256("abc")), kAbc);
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256("\xd3")), "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
  EXPECT_EQ(to_hex(sha256(std::string(1000000, 'a'))), kMillionA);
}

TEST(Sha256Test, PiecesOfAnySizeGiveTheSameDigestAndFinishStartsAnew) {
  Sha256 hash;
  for (size_t piece : {1u, 63u, 64u, 65u, 999807u}) hash.update(std::string(piece, 'a'));
  EXPECT_EQ(to_hex(hash.finish()), kMillionA);
  hash.update("abc");
  EXPECT_EQ(to_hex(hash.finish()), kAbc);
  EXPECT_EQ(to_hex(hash.finish()), kEmpty);
}

TEST(Sha256Test, HexReadsBackInEitherCaseAndRefusesTheRest) {
  Digest digest = sha256("abc");
  std::string upper = to_hex(digest);
  for (char& c : upper) c = static_cast<char>(toupper(c));
  EXPECT_EQ(digest_from_hex(kAbc), digest);
  EXPECT_EQ(digest_from_hex(upper), digest);
  EXPECT_EQ(digest_from_hex(std::string(kAbc).substr(1)), std::nullopt);
  EXPECT_EQ(digest_from_hex("g" + std::string(kAbc).substr(1)), std::nullopt);
  EXPECT_EQ(digest_from_hex(""), std::nullopt);
}

}  // namespace
}  // namespace ingot
