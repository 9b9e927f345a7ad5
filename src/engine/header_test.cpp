#include "engine/header.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/test_engines.h"
#include "ingot/version.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

EngineHeader good_header() {
  return {.format_version = kEngineFormatVersion,
          .oldest_reader = kOldestEngineFormatVersion,
          .flags = 0,
          .features = kSubgraphs,
          .producer_version = 2 << 24 | 3 << 16 | 4,
          .file_size = 8192 + 5000,
          .weights_offset = 8192,
          .weight_bytes = 5000,
          .metadata_offset = 128,
          .metadata_size = 4097};
}

EngineValidity check(const EngineHeader& header, const ValidityQuery& query = {}) {
  return check_engine_header(encode_header(header), query);
}

// The one finding of an answer that has one.
std::string only_text(const EngineValidity& validity) {
  return validity.findings.size() == 1 ? validity.findings[0].text
                                       : fmt::format("{} findings", validity.findings.size());
}

TEST(EngineHeader, EveryFieldHasItsPlace) {
  EngineHeader h{.format_version = 0x0102,
                 .oldest_reader = 0x0304,
                 .flags = 0x05060708,
                 .features = 0x090a0b0c,
                 .producer_version = 0x0d0e0f10,
                 .file_size = 0x1112131415161718,
                 .weights_offset = 0x191a1b1c1d1e1f20,
                 .weight_bytes = 0x2122232425262728,
                 .metadata_offset = 0x292a2b2c,
                 .metadata_size = 0x2d2e2f30};
  auto bytes = encode_header(h);
  const unsigned char expected[56] = {0x89, 'I',  'N',  'G',  'O',  'T',  '\r', '\n', 0x02, 0x01, 0x04, 0x03,
                                      0x08, 0x07, 0x06, 0x05, 0x0c, 0x0b, 0x0a, 0x09, 0x10, 0x0f, 0x0e, 0x0d,
                                      0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x20, 0x1f, 0x1e, 0x1d,
                                      0x1c, 0x1b, 0x1a, 0x19, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
                                      0x2c, 0x2b, 0x2a, 0x29, 0x30, 0x2f, 0x2e, 0x2d};
  EXPECT_EQ(std::memcmp(bytes.data(), expected, sizeof(expected)), 0);
  EXPECT_EQ(std::memcmp(bytes.data() + 56, sha256(std::span(bytes).first(56)).data(), 8), 0);
}

TEST(EngineHeader, AGoodOneIsValid) {
  EngineValidity v = check(good_header(), {.file_size = 8192 + 5000, .memory = 5000});
  EXPECT_EQ(v.status, EngineStatus::valid);
  EXPECT_EQ(v.reasons, 0u);
  EXPECT_EQ(v.producer, "Ingot 2.3.4");
  EXPECT_EQ(v.file_size, 8192u + 5000u);
  EXPECT_EQ(v.weight_bytes, 5000u);
}

TEST(EngineHeader, ShortAndForeignFilesAreRefused) {
  auto bytes = encode_header(good_header());
  for (size_t n = 0; n < kHeaderSize; ++n) {
    EngineValidity v = check_engine_header(std::span(bytes).first(n));
    EXPECT_EQ(v.status, EngineStatus::invalid);
    EXPECT_TRUE(v.has(n < 8 ? EngineReason::malformed : EngineReason::truncated)) << n;
    EXPECT_EQ(only_text(v), fmt::format("expected at least 64 bytes, found {}", n));
  }
  for (size_t i = 0; i < kHeaderSize; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      auto damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(1 << bit);
      EngineValidity v = check_engine_header(damaged);
      EXPECT_EQ(v.status, EngineStatus::invalid) << "byte " << i << ", bit " << bit;
      const EngineReason reason = i < 8 ? EngineReason::malformed : EngineReason::hash_mismatch;
      EXPECT_EQ(v.reasons, static_cast<uint32_t>(reason)) << "byte " << i << ", bit " << bit;
    }
  }
}

TEST(EngineHeader, VersionsDecideFirst) {
  EngineHeader h = good_header();
  h.format_version = h.oldest_reader = kEngineFormatVersion + 1;
  h.features = ~0u;
  EngineValidity v = check(h);
  EXPECT_EQ(v.reasons, static_cast<uint32_t>(EngineReason::version_too_new));
  EXPECT_EQ(only_text(v),
            fmt::format("expected format version {} at most, found version {}, for readers from {}",
                        kEngineFormatVersion, kEngineFormatVersion + 1, kEngineFormatVersion + 1));
  h = good_header();
  h.format_version = kEngineFormatVersion + 1;
  v = check(h);
  EXPECT_EQ(v.status, EngineStatus::suboptimal);
  EXPECT_TRUE(v.has(EngineReason::newer_format));
  h = good_header();
  h.format_version = h.oldest_reader = 0;
  EXPECT_TRUE(check(h).has(EngineReason::malformed));
  h.oldest_reader = 2;
  h.format_version = 1;
  EXPECT_TRUE(check(h).has(EngineReason::malformed));
}

TEST(EngineHeader, SectionsMustFit) {
  auto refused = [](auto change) {
    EngineHeader h = good_header();
    change(h);
    EngineValidity v = check(h);
    EXPECT_EQ(v.reasons, static_cast<uint32_t>(EngineReason::malformed));
    return only_text(v);
  };
  EXPECT_EQ(refused([](EngineHeader& h) { h.metadata_offset = 64; }), "expected metadata at 128, found 64");
  EXPECT_EQ(refused([](EngineHeader& h) { h.metadata_size = 0; }), "expected metadata, found none");
  EXPECT_EQ(refused([](EngineHeader& h) { h.weights_offset = 8191; }),
            "expected weights at a multiple of 4096 behind the metadata's end, 4225, found 8191");
  EXPECT_EQ(refused([](EngineHeader& h) { h.weights_offset = 4096; }),
            "expected weights at a multiple of 4096 behind the metadata's end, 4225, found 4096");
  EXPECT_EQ(refused([](EngineHeader& h) { h.metadata_size = 0xffffffff; }),
            "expected weights at a multiple of 4096 behind the metadata's end, 4294967423, found 8192");
  EXPECT_EQ(refused([](EngineHeader& h) { h.file_size = 8191; }),
            "expected a file of at least 8192 bytes, found 8191");
  EXPECT_EQ(refused([](EngineHeader& h) { h.weight_bytes = (uint64_t{1} << 46) + 1; }),
            "expected at most 70368744177664 bytes of weights, found 70368744177665");
}

TEST(EngineHeader, UnknownFeaturesAreNamed) {
  EngineHeader h = good_header();
  h.features = kStrings | 1u << 30;
  EngineValidity v = check(h);
  EXPECT_EQ(v.reasons, static_cast<uint32_t>(EngineReason::missing_feature));
  EXPECT_NE(only_text(v).find("found feature 30"), std::string::npos) << only_text(v);
}

TEST(EngineHeader, FileSizeAndMemoryAreComparedWhenKnown) {
  EngineValidity v = check(good_header(), {.file_size = 8192, .memory = 4999});
  EXPECT_EQ(v.status, EngineStatus::invalid);
  EXPECT_TRUE(v.has(EngineReason::truncated));
  EXPECT_TRUE(v.has(EngineReason::too_little_memory));
  ASSERT_EQ(v.findings.size(), 2u);
  EXPECT_EQ(v.findings[0].text, "expected 13192 bytes, found 8192");
  EXPECT_EQ(v.findings[1].text, "expected 5000 bytes of memory for weights, found 4999");
  EXPECT_TRUE(check(good_header(), {.file_size = 13193, .memory = {}}).has(EngineReason::oversized));
}

TEST(EngineHeader, ErrorsTellWhoIsToBlame) {
  EngineHeader h = good_header();
  auto code = [&] {
    return thrown_by([&] { checked_header(encode_header(h), kHeaderSize, "a.ingot"); }).code();
  };
  EXPECT_EQ(code(), ErrorCode::corrupt);  // the file ends behind the header
  h.format_version = h.oldest_reader = 9;
  EXPECT_EQ(code(), ErrorCode::incompatible);
  h = good_header();
  h.features = 1u << 31;
  EXPECT_EQ(code(), ErrorCode::incompatible);
}

}  // namespace
}  // namespace ingot
