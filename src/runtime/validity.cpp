#include "runtime/validity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/file_descriptor.h"
#include "base/mapped_file.h"
#include "base/os_error.h"
#include "engine/engine_file.h"
#include "engine/header.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr std::string_view kObject = "engine file";

void add(EngineValidity& validity, EngineFinding finding, EngineStatus status) {
  validity.reasons |= static_cast<uint32_t>(finding.reason);
  validity.status = std::max(validity.status, status);
  validity.findings.push_back(std::move(finding));
}

// Reads until the buffer is full or the file ends.
size_t read_start(const UniqueFd& fd, const std::string& path, std::span<std::byte> buffer) {
  size_t filled = 0;
  while (filled < buffer.size()) {
    ssize_t n = read(fd.get(), buffer.data() + filled, buffer.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_os_error(errno, kObject, path, "read");
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  return filled;
}

}  // namespace

EngineValidity check_file(const std::string& path, std::optional<uint64_t> memory) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw_os_error(errno, kObject, path, "open");
  struct stat info;
  if (fstat(fd.get(), &info) != 0) throw_os_error(errno, kObject, path, "read its size");
  require_regular(info.st_mode, kObject, path);
  std::array<std::byte, kHeaderSize> header;
  const size_t size = read_start(fd, path, header);
  return check_engine_header(std::span(header).first(size),
                             {.file_size = static_cast<uint64_t>(info.st_size), .memory = memory});
}

std::optional<uint64_t> weight_limit(const RuntimeConfig& config) {
  const bool fits = config.weight_streaming_budget && config.weight_memory_limit &&
                    *config.weight_streaming_budget <= *config.weight_memory_limit;
  return fits ? std::nullopt : config.weight_memory_limit;
}

void require_memory(const std::string& engine, uint64_t weight_bytes, std::optional<uint64_t> limit) {
  if (!limit || weight_bytes <= *limit) return;
  throw Error({.code = ErrorCode::out_of_memory,
               .object = "engine file",
               .name = engine,
               .expected = fmt::format("at most {} bytes of weights, the limit of the runtime", *limit),
               .observed = fmt::format("{}", weight_bytes),
               .remedy = "Raise RuntimeConfig::weight_memory_limit, or set weight_streaming_budget."});
}

void add_limits(EngineValidity& validity, const std::vector<DeviceLimit>& limits) {
  for (const DeviceLimit& limit : limits)
    add(validity, limit.finding, limit.is_fatal ? EngineStatus::invalid : EngineStatus::suboptimal);
}

void add_damage(EngineValidity& validity, const std::string& path) {
  const auto file = MappedFile::open(path, kObject);
  for (EngineFinding& finding : find_damage(file->bytes(), path))
    add(validity, std::move(finding), EngineStatus::invalid);
}

}  // namespace ingot
