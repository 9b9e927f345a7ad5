#include "cache/cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/checked.h"
#include "base/file_descriptor.h"
#include "base/os_error.h"
#include "base/sha256.h"
#include "cache/eviction.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr char kMagic[8] = {'I', 'N', 'G', 'O', 'T', 'C', 'A', 'C'};
constexpr uint32_t kFormatVersion = 1;
constexpr time_t kTouchInterval = 3600;  // reading an entry counts as use once an hour

// At the start of every file; little-endian, like all machines that Ingot runs on.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  Digest key;
  uint64_t payload_bytes;
  uint64_t checked_bytes;
  Digest checked;
  uint8_t padding[32];
};
static_assert(sizeof(Header) == Cache::kHeaderBytes);

Header header_of(std::string_view key, std::span<const std::byte> checked) {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kFormatVersion;
  header.key = sha256(key);
  header.checked_bytes = checked.size();
  header.checked = sha256(checked);
  return header;
}

// What is wrong with a file, or empty.
std::string fault_of(std::span<const std::byte> file, std::string_view key) {
  Header header;
  if (file.size() < sizeof(header)) return "too short";
  std::memcpy(&header, file.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) return "not a cache entry";
  if (header.version != kFormatVersion) return fmt::format("of format {}", header.version);
  if (header.key != sha256(key)) return "the entry of another key";
  const auto payload = file.subspan(sizeof(header));
  if (header.payload_bytes != payload.size())
    return fmt::format("{} bytes instead of {}", payload.size(), header.payload_bytes);
  if (header.checked_bytes > payload.size() || header.checked != sha256(payload.first(header.checked_bytes)))
    return "changed since it was written";
  return "";
}

// Why a file or folder is not to be trusted, or empty.
std::string distrust_of(const struct stat& info) {
  if (info.st_uid != geteuid()) return fmt::format("belongs to user {}", info.st_uid);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return fmt::format("may be written by others (mode {:o})", info.st_mode & 0777);
  return "";
}

void touch(int fd, const struct stat& info) {
  if (time(nullptr) - info.st_mtime >= kTouchInterval) futimens(fd, nullptr);  // best effort
}

}  // namespace

CacheEntry::~CacheEntry() { munmap(const_cast<std::byte*>(file_.data()), file_.size()); }

bool CacheEntry::make_executable() const {
  return mprotect(const_cast<std::byte*>(file_.data()), file_.size(), PROT_READ | PROT_EXEC) == 0;
}

Cache::Cache(std::string folder, Diagnostics diagnostics, uint64_t limit_bytes)
    : folder_(std::move(folder)), diagnostics_(std::move(diagnostics)), limit_bytes_(limit_bytes) {}

std::string Cache::default_folder() {
  if (const char* folder = secure_getenv("INGOT_CACHE")) return folder;
  const char* base = secure_getenv("XDG_CACHE_HOME");
  if (base && *base == '/')
    return std::string(base) + "/ingot";  // others are to be ignored, says its specification
  const char* home = secure_getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/ingot" : "";
}

std::string Cache::path_of(std::string_view key) const { return fmt::format("{}/{}", folder_, key); }

CacheStats Cache::stats() const {
  const Counters& c = counters_;
  return {c.hits, c.misses, c.damaged, c.refused, c.written, c.write_failures, c.evicted};
}

void Cache::warn_once(std::atomic<bool>& said, const std::string& message) {
  if (!said.exchange(true)) diagnostics_.log(LogLevel::warning, message);
}

void Cache::refuse(const std::string& path, const std::string& why) {
  ++counters_.refused;
  warn_once(said_refused_, fmt::format("cache: '{}' {}; it is not used", path, why));
}

bool Cache::folder_is_private() {
  const UniqueFd fd(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat info;
  if (!fd || fstat(fd.get(), &info) != 0) return false;  // missing: nothing to find
  const std::string distrust = distrust_of(info);
  if (!distrust.empty()) refuse(folder_, distrust);
  return distrust.empty();
}

std::shared_ptr<const CacheEntry> Cache::find(std::string_view key) {
  if (folder_.empty() || !folder_is_private()) return ++counters_.misses, nullptr;
  auto entry = open(path_of(key), key);
  ++(entry ? counters_.hits : counters_.misses);
  return entry;
}

// Every check is made on the file that is then mapped, whatever happens to its name meanwhile.
std::shared_ptr<const CacheEntry> Cache::open(const std::string& path, std::string_view key) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  if (!fd || fstat(fd.get(), &info) != 0) return nullptr;
  const std::string distrust = S_ISREG(info.st_mode) ? distrust_of(info) : "is not a file";
  if (!distrust.empty()) return refuse(path, distrust), nullptr;
  const auto size = static_cast<size_t>(info.st_size);
  void* address = size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) return drop_damaged(key, size == 0 ? "empty" : "not mappable"), nullptr;
  std::shared_ptr<CacheEntry> entry(new CacheEntry({static_cast<const std::byte*>(address), size}));
  const std::string fault = fault_of(entry->file_, key);
  if (!fault.empty()) return drop_damaged(key, fault), nullptr;
  entry->payload_ = entry->file_.subspan(kHeaderBytes);
  touch(fd.get(), info);
  return entry;
}

void Cache::drop_damaged(std::string_view key, std::string_view what) {
  ++counters_.damaged;
  const std::string path = path_of(key);
  unlink(path.c_str());
  diagnostics_.log(LogLevel::warning,
                   fmt::format("cache: '{}' is {}; it is dropped and made again", path, what));
}

// With its parents, as `mkdir -p` does.
void Cache::make_folder() const {
  for (size_t end = folder_.find('/', 1); end != std::string::npos; end = folder_.find('/', end + 1))
    mkdir(folder_.substr(0, end).c_str(), 0700);
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) throw_os_error(errno, "cache", folder_, "create");
}

bool Cache::put(std::string_view key, std::span<const std::byte> checked,
                const std::function<void(AtomicFile& file)>& rest) {
  if (folder_.empty()) return false;
  try {
    make_folder();
    if (!folder_is_private()) return ++counters_.write_failures, false;
    AtomicFile file(path_of(key), "cache entry", AtomicFile::Temporary::nameless, 0600);
    Header header = header_of(key, checked);
    file.append(std::as_bytes(std::span(&header, 1)));
    file.append(checked);
    if (rest) rest(file);
    header.payload_bytes = file.size() - kHeaderBytes;
    file.write_at(0, std::as_bytes(std::span(&header, 1)));
    keep_within_limit(file.size());
    file.commit(AtomicFile::Durability::unsynced);  // damage is noticed, and the entry made again
    ++counters_.written;
    return true;
  } catch (const Error& error) {
    ++counters_.write_failures;
    warn_once(said_write_failure_,
              fmt::format("cache: not everything is kept for the next start: {}", error.what()));
    return false;
  }
}

void Cache::keep_within_limit(uint64_t added) {
  const std::lock_guard lock(eviction_);
  if (known_bytes_ == ~uint64_t{0}) known_bytes_ = folder_bytes(folder_);
  known_bytes_ += added;
  if (known_bytes_ <= limit_bytes_) return;
  // Well below, so that not every further entry looks through the folder.
  const uint64_t target = limit_bytes_ - limit_bytes_ / 8;
  const EvictionResult result = evict_oldest(folder_, target - std::min(target, added));
  counters_.evicted += result.files;
  known_bytes_ = result.bytes_left + added;
}

}  // namespace ingot
