#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingot/tensor.h"

namespace ingot {

// The members of a zip archive, expanded one at a time. One thread at a time.
class ZipReader {
 public:
  // Throws Error: corrupt for what is no archive, and what MappedFile::open throws.
  explicit ZipReader(const std::string& path);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  const std::vector<std::string>& names() const { return names_; }  // as stored, in their order

  // The content of member `index`, its CRC-32 checked. Throws Error: corrupt, also where it claims to expand
  // more than its compression can; unsupported for encryption and methods other than stored and deflate.
  std::shared_ptr<const std::vector<std::byte>> read(size_t index) const;

 private:
  struct Archive;
  [[noreturn]] void fail(size_t index, std::string expected, std::string observed) const;

  std::string path_;
  std::unique_ptr<Archive> archive_;
  std::vector<std::string> names_;
};

}  // namespace ingot
