#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

// How a range of a mapping will be read; a hint for the operating system that never changes content.
enum class Advice {
  normal,
  sequential,  // read ahead more
  random,      // do not read ahead
  will_need,   // start to read now
  drop,        // free the physical memory; a later read brings the bytes back from the file
};

// A regular file, mapped read-only. Immutable, so any number of threads may share it; the bytes live as long
// as the object. The file may be replaced by rename or deleted meanwhile; shrinking it in place makes later
// reads fatal (SIGBUS), which is why this project's own files are only ever published by rename.
class MappedFile {
 public:
  // `object` says in errors what the file is, "engine file". Throws not_found, invalid_argument for a folder,
  // pipe, socket or device, corrupt for an empty file, device where the system refuses.
  static std::shared_ptr<const MappedFile> open(const std::string& path, std::string_view object = "file");

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  const std::string& path() const { return path_; }

  // Applies to all pages that [offset, offset + length) touches, cut to the file.
  void advise(Advice advice, size_t offset, size_t length) const noexcept;
  void advise(Advice advice) const noexcept { advise(advice, 0, size()); }
  // Drops the pages of a view of bytes(). Ignores bytes that are not of this file.
  void drop(std::span<const std::byte> view) const noexcept;

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes);

  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace ingot
