#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace ingot {

// What an entry says of itself: for people, and for those who must tell what is of no use to them.
struct EntryInfo {
  std::string target = {};         // what it was made for, as "cpu:avx512"; at most 23 characters
  Digest generator = {};           // of the sources that make such entries
  Digest engine = {};              // that it was made for first; zeros: for none
  uint64_t make_microseconds = 0;  // what it took to make

  bool operator==(const EntryInfo&) const = default;
};

// The same as it lies in files; little-endian, like all machines that Ingot runs on.
struct StoredInfo {
  char target[24];  // zeros behind it
  Digest generator;
  Digest engine;
  uint64_t make_microseconds;
};
static_assert(sizeof(StoredInfo) == 96);

StoredInfo to_stored(const EntryInfo& info);
EntryInfo from_stored(const StoredInfo& info);

// Letters, digits, '-' and '.', at most 95 of them, no '.' in front: what may be the name of a file.
bool is_cache_key(std::string_view key);
// Kernels stand for themselves, so they may leave the folder; other entries serve the start on one machine.
bool is_kernel_key(std::string_view key);
std::string kernel_entry_key(std::string_view kernel_key);

// Bytes at a multiple of 64, private to the process. Where they are many they have pages of their own, which
// may become code; few of them share pages, as a process can only have so many mappings.
class Mapping {
 public:
  // Null where the system refuses.
  static std::shared_ptr<const Mapping> of_file(int fd, size_t bytes);
  static std::shared_ptr<const Mapping> copy_of(std::span<const std::byte> bytes);
  // A copy, so that whoever changes the file in place changes nothing here.
  static std::shared_ptr<const Mapping> read_file(int fd, size_t bytes);

  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  // False where they have no pages of their own, or the system forbids it for the file system of a file.
  bool make_executable() const;
  bool is_file() const { return is_file_; }  // its pages come back from a file

 private:
  Mapping(std::span<const std::byte> bytes, bool has_pages, bool is_file = false)
      : bytes_(bytes), has_pages_(has_pages), is_file_(is_file) {}
  template <class Fill>  // bool(std::span<std::byte>)
  static std::shared_ptr<const Mapping> make(size_t bytes, const Fill& fill);

  std::span<const std::byte> bytes_;
  bool has_pages_;
  bool is_file_;
};

// An entry that was checked. Stays valid when it is replaced or evicted.
class CacheEntry {
 public:
  // `payload` lies in `memory`.
  CacheEntry(EntryInfo info, std::shared_ptr<const Mapping> memory, std::span<const std::byte> payload)
      : info_(std::move(info)), memory_(std::move(memory)), payload_(payload) {}

  const EntryInfo& info() const { return info_; }
  // At a multiple of 64 bytes.
  std::span<const std::byte> payload() const { return payload_; }
  // Makes the memory of the payload executable; false where that is not possible.
  bool make_executable() const { return memory_->make_executable(); }
  // Whether the payload is pages of a file, which may be dropped.
  bool is_file() const { return memory_->is_file(); }

 private:
  EntryInfo info_;
  std::shared_ptr<const Mapping> memory_;
  std::span<const std::byte> payload_;
};

}  // namespace ingot
