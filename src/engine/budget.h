#pragma once

#include <cstddef>

#include "ingot/error.h"

namespace ingot {

// Bounds what a file may make its reader allocate, in proportion to the file: a small file can name one long
// text or shape many times over.
class Budget {
 public:
  explicit Budget(size_t file_bytes) : limit_((size_t{16} << 20) + 64 * file_bytes), left_(limit_) {}

  void charge(size_t bytes) {
    if (bytes > left_)
      throw Error({.code = ErrorCode::corrupt,
                   .object = "engine metadata",
                   .expected = fmt::format("a graph of at most {} bytes in memory", limit_),
                   .observed = "more",
                   .remedy = "Build it again with 'ingot compile'."});
    left_ -= bytes;
  }

 private:
  size_t limit_;
  size_t left_;
};

}  // namespace ingot
