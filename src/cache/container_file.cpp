#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/file_descriptor.h"
#include "base/os_error.h"
#include "cache/container.h"
#include "cache/entry_lock.h"
#include "cache/eviction.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr std::string_view kObject = "runtime cache file";

[[noreturn]] void fail_distrusted(const std::string& path, std::string observed) {
  throw Error({.code = ErrorCode::device,
               .object = std::string(kObject),
               .name = path,
               .expected = "a file that only its user, or root, may write: it holds code",
               .observed = "it " + std::move(observed),
               .remedy = "Make it private (chmod go-w), or make it again."});
}

// Nothing where there is no such file, or one of another format. What is no cache is not ours to replace.
ContainerContent read_replaceable(const std::string& path) {
  try {
    return read_container_file(path, CacheTrust::own);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::not_found || error.code() == ErrorCode::incompatible) return {};
    throw;
  }
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

}  // namespace

ContainerContent read_container_file(const std::string& path, CacheTrust trust) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (!fd || fstat(fd.get(), &info) != 0) throw_os_error(errno, kObject, path, "open");
  require_regular(info.st_mode, kObject, path);
  const std::string distrust = distrust_of(info, trust);
  if (!distrust.empty()) fail_distrusted(path, distrust);
  const auto memory = Mapping::read_file(fd.get(), static_cast<size_t>(info.st_size));
  if (!memory) throw_os_error(ENOMEM, kObject, path, "read");
  return read_container(memory, path);
}

void update_container_file(const std::string& path, std::chrono::milliseconds wait,
                           const std::function<std::vector<NamedEntry>(ContainerContent)>& change) {
  AtomicFile::remove_abandoned(folder_of(path));
  const std::filesystem::path name(path);
  const EntryLock lock =
      EntryLock::wait(fmt::format("{}/{}{}", folder_of(path), kLockPrefix, name.filename().string()), wait);
  const std::vector<std::byte> bytes = make_container(change(read_replaceable(path)));
  AtomicFile file(path, kObject, AtomicFile::Temporary::nameless, 0600);
  file.append(bytes);
  file.commit();
}

}  // namespace ingot
