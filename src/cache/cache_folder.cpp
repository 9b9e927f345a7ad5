#include "cache/cache_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_descriptor.h"
#include "base/os_error.h"
#include "cache/eviction.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr char kMagic[8] = {'I', 'N', 'G', 'O', 'T', 'C', 'A', 'C'};
constexpr uint32_t kFormatVersion = 2;
constexpr time_t kTouchInterval = 3600;  // reading an entry counts as use once an hour
constexpr size_t kDigestedBytes = 160;   // of the header, behind the checked part of the payload

// At the start of every file.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  Digest key;
  uint64_t payload_bytes;
  uint64_t checked_bytes;
  StoredInfo info;
  Digest digest;
  uint8_t padding[64];
};
static_assert(sizeof(Header) == 256 && offsetof(Header, digest) == kDigestedBytes);

Digest digest_of(const Header& header, std::span<const std::byte> checked) {
  Sha256 sha;
  sha.update(checked);
  sha.update(std::as_bytes(std::span(&header, 1)).first(kDigestedBytes));
  return sha.finish();
}

Header header_of(std::string_view key, const EntryInfo& info, std::span<const std::byte> checked,
                 uint64_t payload_bytes) {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kFormatVersion;
  header.key = sha256(key);
  header.payload_bytes = payload_bytes;
  header.checked_bytes = checked.size();
  header.info = to_stored(info);
  header.digest = digest_of(header, checked);
  return header;
}

struct Fault {
  std::string what;  // empty: none
  bool outdated = false;
};

Fault fault_of(std::span<const std::byte> file, std::string_view key, Header& header) {
  if (file.size() < sizeof(header)) return {"too short"};
  std::memcpy(&header, file.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) return {"not a cache entry"};
  if (header.version != kFormatVersion) return {fmt::format("of format {}", header.version), true};
  if (header.key != sha256(key)) return {"the entry of another key"};
  const auto payload = file.subspan(sizeof(header));
  if (header.payload_bytes != payload.size())
    return {fmt::format("{} bytes instead of {}", payload.size(), header.payload_bytes)};
  if (header.checked_bytes > payload.size() ||
      header.digest != digest_of(header, payload.first(header.checked_bytes)))
    return {"changed since it was written"};
  return {};
}

void touch(int fd, const struct stat& info) {
  if (time(nullptr) - info.st_mtime >= kTouchInterval) futimens(fd, nullptr);  // best effort
}

UniqueFd open_entry(const std::string& path, struct stat& info) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return fd && fstat(fd.get(), &info) == 0 ? std::move(fd) : UniqueFd();
}

}  // namespace

std::string distrust_of(const struct stat& info, CacheTrust trust) {
  const bool trusted = info.st_uid == geteuid() || (trust == CacheTrust::shipped && info.st_uid == 0);
  if (!trusted) return fmt::format("belongs to user {}", info.st_uid);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return fmt::format("may be written by others (mode {:o})", info.st_mode & 0777);
  return "";
}

CacheFolder::CacheFolder(std::string folder, CacheTrust trust, uint64_t limit_bytes,
                         const Diagnostics& diagnostics, CacheCounters& counters)
    : folder_(std::move(folder)),
      trust_(trust),
      limit_bytes_(limit_bytes),
      diagnostics_(diagnostics),
      counters_(counters) {}

std::string CacheFolder::path_of(std::string_view key) const { return fmt::format("{}/{}", folder_, key); }

void CacheFolder::refuse(const std::string& path, const std::string& why) {
  ++counters_.refused;
  if (!said_refused_.exchange(true))
    diagnostics_.log(LogLevel::warning, fmt::format("cache: '{}' {}; it is not used", path, why));
}

bool CacheFolder::is_private() {
  const UniqueFd fd(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat info;
  if (!fd || fstat(fd.get(), &info) != 0) return false;  // missing: nothing to find
  const std::string distrust = distrust_of(info, trust_);
  if (!distrust.empty()) refuse(folder_, distrust);
  return distrust.empty();
}

std::shared_ptr<const CacheEntry> CacheFolder::find(std::string_view key) {
  return is_private() ? open(path_of(key), key) : nullptr;
}

bool CacheFolder::contains(std::string_view key) const { return access(path_of(key).c_str(), F_OK) == 0; }

// Every check is made on the file that is then mapped, whatever happens to its name meanwhile.
std::shared_ptr<const CacheEntry> CacheFolder::open(const std::string& path, std::string_view key) {
  struct stat info;
  const UniqueFd fd = open_entry(path, info);
  if (!fd) return nullptr;
  const std::string distrust = S_ISREG(info.st_mode) ? distrust_of(info, trust_) : "is not a file";
  if (!distrust.empty()) return refuse(path, distrust), nullptr;
  const auto file = Mapping::of_file(fd.get(), static_cast<size_t>(info.st_size));
  if (!file) return drop_damaged(key, info.st_size == 0 ? "empty" : "not mappable"), nullptr;
  Header header;
  const Fault fault = fault_of(file->bytes(), key, header);
  if (fault.outdated) return ++counters_.outdated, nullptr;  // it will be replaced
  if (!fault.what.empty()) return drop_damaged(key, fault.what), nullptr;
  if (trust_ == CacheTrust::own) touch(fd.get(), info);
  return std::make_shared<CacheEntry>(from_stored(header.info), file, file->bytes().subspan(sizeof(Header)));
}

void CacheFolder::drop_damaged(std::string_view key, std::string_view what) {
  ++counters_.damaged;
  const std::string path = path_of(key);
  const bool ours = trust_ == CacheTrust::own;
  if (ours) unlink(path.c_str());
  diagnostics_.log(LogLevel::warning, fmt::format("cache: '{}' is {}; it is {}", path, what,
                                                  ours ? "dropped and made again" : "not used"));
}

// With its parents, as `mkdir -p` does.
void CacheFolder::make_folder() const {
  for (size_t end = folder_.find('/', 1); end != std::string::npos; end = folder_.find('/', end + 1))
    mkdir(folder_.substr(0, end).c_str(), 0700);
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) throw_os_error(errno, "cache", folder_, "create");
}

bool CacheFolder::put(std::string_view key, const EntryInfo& info, std::span<const std::byte> checked,
                      const std::function<void(AtomicFile& file)>& rest) {
  try {
    make_folder();
    if (!is_private()) return ++counters_.write_failures, false;
    AtomicFile file(path_of(key), "cache entry", AtomicFile::Temporary::nameless, 0600);
    file.append_zeros(sizeof(Header));
    file.append(checked);
    if (rest) rest(file);
    const Header header = header_of(key, info, checked, file.size() - sizeof(Header));
    file.write_at(0, std::as_bytes(std::span(&header, 1)));
    keep_within_limit(file.size());
    file.commit(AtomicFile::Durability::unsynced);  // damage is noticed, and the entry made again
    ++counters_.written;
    return true;
  } catch (const Error& error) {
    ++counters_.write_failures;
    if (!said_write_failure_.exchange(true))
      diagnostics_.log(LogLevel::warning,
                       fmt::format("cache: not everything is kept for the next start: {}", error.what()));
    return false;
  }
}

std::string CacheFolder::lock_path(std::string_view key) {
  try {
    make_folder();
  } catch (const Error&) {
    return "";  // put() says it
  }
  return is_private() ? fmt::format("{}/{}{}", folder_, kLockPrefix, key) : "";
}

void CacheFolder::keep_within_limit(uint64_t added) {
  const std::lock_guard lock(eviction_);
  if (known_bytes_ == ~uint64_t{0}) {
    AtomicFile::remove_abandoned(folder_);
    known_bytes_ = folder_bytes(folder_);
  }
  known_bytes_ += added;
  if (known_bytes_ <= limit_bytes_) return;
  // Well below, so that not every further entry looks through the folder.
  const uint64_t target = limit_bytes_ - limit_bytes_ / 8;
  const EvictionResult result = evict_oldest(folder_, target - std::min(target, added));
  counters_.evicted += result.files;
  known_bytes_ = result.bytes_left + added;
}

std::vector<CacheListing> CacheFolder::list() const {
  std::vector<CacheListing> entries;
  for (const std::string& name : entry_names(folder_)) {
    struct stat info;
    const UniqueFd fd = open_entry(path_of(name), info);
    if (!fd || !S_ISREG(info.st_mode)) continue;
    CacheListing entry;
    entry.key = name;
    entry.bytes = static_cast<uint64_t>(info.st_size);
    entry.used_seconds = info.st_mtime;
    entry.fault = distrust_of(info, trust_);
    const auto file = Mapping::of_file(fd.get(), static_cast<size_t>(info.st_size));
    Header header = {};
    if (entry.fault.empty()) entry.fault = file ? fault_of(file->bytes(), name, header).what : "not mappable";
    if (entry.fault.empty()) entry.info = from_stored(header.info);
    entries.push_back(std::move(entry));
  }
  return entries;
}

CacheSize CacheFolder::size() const {
  CacheSize size;
  for (const std::string& name : entry_names(folder_)) {
    struct stat info;
    if (!is_kernel_key(name) || stat(path_of(name).c_str(), &info) != 0) continue;
    ++size.entries;
    size.bytes += static_cast<uint64_t>(info.st_size);
  }
  return size;
}

}  // namespace ingot
