#pragma once

#include "base/sha256.h"
#include "ingot/tensor.h"

namespace ingot {

// SHA-256 of the content: of a tensor its bytes, row by row, little-endian, sub-byte elements packed; each
// text is followed by a zero byte; a sequence is its tensors in order. Neither type nor shape takes part.
Digest content_digest(const Datum& datum);

}  // namespace ingot
