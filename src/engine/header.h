#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/sha256.h"
#include "ingot/graph.h"
#include "ingot/validity.h"

// The first bytes of an engine file: a header of 64 bytes and the digests of the two sections.
namespace ingot {

inline constexpr size_t kHeaderSize = 64;
inline constexpr size_t kMetadataOffset = 128;  // behind the header and two digests
inline constexpr uint64_t kPageSize = 4096;     // of the weights section and of large blobs in it
inline constexpr uint64_t kBlobAlignment = 64;

// Bits of EngineHeader::features: what a reader must know to use the file.
inline constexpr uint32_t kStrippedWeights = 1 << 0;  // large constants are left out
inline constexpr uint32_t kSubgraphs = 1 << 1;        // nodes hold graphs
inline constexpr uint32_t kStrings = 1 << 2;          // tensors of strings
inline constexpr uint32_t kSubByteTypes = 1 << 3;     // elements of 2 or 4 bits
inline constexpr uint32_t kContainers = 1 << 4;       // sequences or optionals
inline constexpr uint32_t kKnownFeatures = (1 << 5) - 1;

// Bits of EngineHeader::flags: facts that a reader may ignore.
inline constexpr uint32_t kHasProfiles = 1 << 0;
inline constexpr uint32_t kRefittable = 1 << 1;  // has weights that can be replaced

struct EngineHeader {
  uint16_t format_version = 0;
  uint16_t oldest_reader = 0;
  uint32_t flags = 0;
  uint32_t features = 0;
  uint32_t producer_version = 0;  // major << 24 | minor << 16 | patch
  uint64_t file_size = 0;
  uint64_t weights_offset = 0;
  uint64_t weight_bytes = 0;
  uint32_t metadata_offset = 0;
  uint32_t metadata_size = 0;
};

// With the checksum of its first 56 bytes.
std::array<std::byte, kHeaderSize> encode_header(const EngineHeader& header);

// The fields of 64 bytes as they stand, unchecked.
EngineHeader decode_header(std::span<const std::byte> bytes);

// Throws Error(corrupt or incompatible) that names the file unless the header, which `start` begins with, and
// the size of the file are right.
EngineHeader checked_header(std::span<const std::byte> start, uint64_t file_size, std::string_view name);

// Of this library, for the header.
uint32_t producer_version();
// "Ingot 0.1.0"
std::string producer_text(uint32_t version);

// The features that a graph, with its subgraphs, needs.
uint32_t features_of(const Graph& graph);

}  // namespace ingot
