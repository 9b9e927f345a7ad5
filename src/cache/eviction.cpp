#include "cache/eviction.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"

namespace ingot {
namespace {

struct File {
  std::string name;
  timespec used;
  uint64_t bytes;

  bool is_temporary() const { return name.starts_with(AtomicFile::kTemporaryPrefix); }
  bool operator<(const File& other) const {
    return std::pair(used.tv_sec, used.tv_nsec) < std::pair(other.used.tv_sec, other.used.tv_nsec);
  }
};

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

std::vector<File> files_of(DIR* folder) {
  std::vector<File> files;
  while (const dirent* entry = readdir(folder)) {
    struct stat info;
    if (fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
      continue;
    files.push_back({entry->d_name, info.st_mtim, static_cast<uint64_t>(info.st_size)});
  }
  return files;
}

uint64_t total_bytes(const std::vector<File>& files) {
  uint64_t bytes = 0;
  for (const File& file : files) bytes += file.bytes;
  return bytes;
}

}  // namespace

uint64_t folder_bytes(const std::string& folder) {
  const OpenFolder open(opendir(folder.c_str()));
  return open ? total_bytes(files_of(open.get())) : 0;
}

std::vector<std::string> entry_names(const std::string& folder) {
  const OpenFolder open(opendir(folder.c_str()));
  std::vector<std::string> names;
  if (!open) return names;
  for (File& file : files_of(open.get()))
    if (!file.is_temporary()) names.push_back(std::move(file.name));
  std::sort(names.begin(), names.end());
  return names;
}

EvictionResult evict_oldest(const std::string& folder, uint64_t bytes) {
  const OpenFolder open(opendir(folder.c_str()));
  if (!open) return {};
  AtomicFile::remove_abandoned(folder);
  std::vector<File> files = files_of(open.get());
  std::sort(files.begin(), files.end());
  EvictionResult result{.bytes_left = total_bytes(files)};
  for (const File& file : files) {
    const bool wanted = file.is_temporary() || result.bytes_left <= bytes;
    if (wanted || unlinkat(dirfd(open.get()), file.name.c_str(), 0) != 0) continue;
    result.bytes_left -= file.bytes;
    ++result.files;
  }
  return result;
}

}  // namespace ingot
