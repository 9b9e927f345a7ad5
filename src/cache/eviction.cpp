#include "cache/eviction.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

namespace ingot {
namespace {

constexpr time_t kAbandonedAfter = 3600;  // no entry takes an hour to write

struct File {
  std::string name;
  timespec used;
  uint64_t bytes;

  bool is_temporary() const { return name.starts_with(kTemporaryPrefix); }
  bool is_abandoned(time_t now) const { return is_temporary() && now - used.tv_sec >= kAbandonedAfter; }
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

void remove_abandoned(const std::string& folder) {
  const OpenFolder open(opendir(folder.c_str()));
  if (!open) return;
  const time_t now = time(nullptr);
  for (const File& file : files_of(open.get()))
    if (file.is_abandoned(now)) unlinkat(dirfd(open.get()), file.name.c_str(), 0);
}

EvictionResult evict_oldest(const std::string& folder, uint64_t bytes) {
  const OpenFolder open(opendir(folder.c_str()));
  if (!open) return {};
  std::vector<File> files = files_of(open.get());
  std::sort(files.begin(), files.end());
  EvictionResult result{.bytes_left = total_bytes(files)};
  const time_t now = time(nullptr);
  for (const File& file : files) {
    const bool wanted = file.is_temporary() ? !file.is_abandoned(now) : result.bytes_left <= bytes;
    if (wanted || unlinkat(dirfd(open.get()), file.name.c_str(), 0) != 0) continue;
    result.bytes_left -= file.bytes;
    ++result.files;
  }
  return result;
}

}  // namespace ingot
