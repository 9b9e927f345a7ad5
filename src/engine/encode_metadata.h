#pragma once

#include <cstddef>
#include <vector>

#include "engine/blobs.h"
#include "engine/engine_file.h"

namespace ingot {

// The metadata section. Large constants are added to `blobs` instead.
std::vector<std::byte> encode_metadata(const EngineContent& content, BlobTable& blobs);

}  // namespace ingot
