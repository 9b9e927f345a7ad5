#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

namespace ingot {

// A file that appears under its name complete or not at all: written to a temporary in the same folder, then
// synced and renamed over whatever had the name. Without commit() nothing is left behind, not even by a
// process that is killed (where the file system has nameless files). Buffered; one thread at a time.
//
// `object` says in errors what the file is. Every failure (disk full, read-only folder, no permission, file
// size limit) throws an Error that names the path and what to do; the object is then only good for
// destruction.
class AtomicFile {
 public:
  // How the temporary exists before commit(). `nameless` falls back to `named` where the file system lacks
  // it.
  enum class Temporary { nameless, named };
  // Whether commit() waits until a power cut can harm neither content nor name. Without, the file may then be
  // gone or damaged: for content that its reader checks and that can be made again.
  enum class Durability { synced, unsynced };

  // Throws invalid_argument where `path` names something that is not a regular file: publishing would replace
  // it. `mode` holds the permissions, cut by the process's umask.
  explicit AtomicFile(std::string path, std::string_view object = "file",
                      Temporary temporary = Temporary::nameless, mode_t mode = 0666);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text);
  void append_zeros(uint64_t count);
  // Replaces bytes already appended, a header for example; throws internal beyond size().
  void write_at(uint64_t offset, std::span<const std::byte> bytes);

  // What the names of temporaries begin with, and those of other files that live for a moment.
  static constexpr std::string_view kTemporaryPrefix = ".ingot-";
  static constexpr std::chrono::hours kAbandonedAfter{1};  // no file takes as long to write
  // Deletes the temporaries that killed processes left in a folder: those that are as old.
  static void remove_abandoned(const std::string& folder) noexcept;

  uint64_t size() const { return written_ + buffer_.size(); }  // bytes appended so far
  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }  // that of the path

  // Publishes. At most once, and no writes after it.
  void commit(Durability durability = Durability::synced);

 private:
  void open_temporary(Temporary temporary);
  void flush();
  void write_all(uint64_t offset, std::span<const std::byte> bytes);
  void name_temporary();
  [[noreturn]] void fail(int error_number, std::string_view action) const;

  std::string path_;
  std::string object_;
  std::string folder_;
  mode_t mode_;
  std::string temporary_;  // its path; empty while it has no name
  UniqueFd fd_;
  std::vector<std::byte> buffer_;
  uint64_t written_ = 0;  // bytes handed to the system
};

}  // namespace ingot
