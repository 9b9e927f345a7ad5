#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "import/onnx/messages.h"

namespace ingot {

class MappedFile;

// The entries of TensorProto.external_data. Unknown keys are ignored, as the format asks.
struct OnnxExternalData {
  std::string_view location;       // a path relative to the model's folder
  uint64_t offset = 0;             // bytes
  std::optional<uint64_t> length;  // bytes; absent: what the tensor's type and shape need
  std::string_view checksum;  // SHA-1 of the whole file in hex, as stated; this reader does not verify it
};

// Throws Error(corrupt) that names the tensor for a key given twice, a number that is none, or no location.
// `file` is the model file, for messages.
OnnxExternalData parse_external_data(const OnnxTensor& tensor, std::string_view file);

// A view of bytes and what keeps them alive.
struct OnnxBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// The data files of one model. Each is mapped once, at first use, and lives as long as any view of it:
// deleting or replacing it by rename does no harm. One thread at a time.
class OnnxExternalFiles {
 public:
  // `folder`: where the model file lies; nothing outside it is ever opened. Throws Error(not_found) without
  // it.
  explicit OnnxExternalFiles(const std::string& folder);
  ~OnnxExternalFiles();
  OnnxExternalFiles(const OnnxExternalFiles&) = delete;
  OnnxExternalFiles& operator=(const OnnxExternalFiles&) = delete;

  // The `size` bytes of a tensor. Throws Error(corrupt) for a location that is absolute, leaves the folder by
  // ".." or by a symbolic link, or is no regular file, and for a range outside the file or of another length
  // than `size`; Error(not_found) for a missing file.
  OnnxBytes read(const OnnxTensor& tensor, uint64_t size, std::string_view file);

  // Frees the physical memory of bytes that read() gave; ignores others.
  void drop(std::span<const std::byte> bytes) const;

 private:
  std::string resolve(const OnnxTensor& tensor, std::string_view location, std::string_view file) const;

  std::string folder_;                                             // canonical
  std::map<std::string, std::shared_ptr<const MappedFile>> maps_;  // by canonical path
};

}  // namespace ingot
