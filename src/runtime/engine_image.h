#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/engine_file.h"
#include "ingot/weights.h"

namespace ingot {

// The bytes that an engine was read from, in its two parts.
struct EngineImage {
  std::span<const std::byte> start;    // all before the weights
  std::span<const std::byte> weights;  // empty where a reader has not given them yet
  std::shared_ptr<const void> start_owner;
  std::shared_ptr<const void> weights_owner;
  std::span<const std::byte> mapped_file = {};  // both, where they are pages of a file
};

// Of the whole engine; copied where nobody keeps the bytes alive or they lie at an address that does not
// suit. Throws as read_engine() for a bad header.
EngineImage image_of(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                     const std::string& name);

// From a reader, with or without the weights, whose SHA-256 is checked.
EngineImage read_image(EngineReader& reader, const std::string& name, bool with_weights);
// Reads the weights that an image lacks. Throws incompatible where the reader has another engine.
void read_weights(EngineReader& reader, const std::string& name, EngineImage& image);

// The header and the digests.
std::vector<std::byte> read_start(EngineReader& reader, const std::string& name);

EnginePieces pieces_of(const EngineImage& image, bool is_deferred);

}  // namespace ingot
