#include "import/onnx/external_data.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/checked.h"
#include "base/mapped_file.h"
#include "import/onnx/wire.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExportAgain = "The model or its data file is damaged: export or download both again.";
constexpr const char* kMoveInside =
    "Put the data file into the folder of the model, and save the model with its name.";

[[noreturn]] void fail(const OnnxTensor& tensor, std::string_view file, ErrorCode code, std::string expected,
                       const std::string& observed, const char* remedy) {
  throw Error(
      {.code = code,
       .object = "external data of tensor",
       .name = printable(tensor.name),
       .expected = std::move(expected),
       .observed = fmt::format("{} (ONNX file '{}', byte {})", observed, printable(file), tensor.offset),
       .remedy = remedy});
}

uint64_t parse_number(const OnnxTensor& tensor, const OnnxProperty& entry, std::string_view file) {
  uint64_t value = 0;
  const char* end = entry.value.data() + entry.value.size();
  const auto result = std::from_chars(entry.value.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    fail(tensor, file, ErrorCode::corrupt, fmt::format("'{}' as a decimal number below 2^64", entry.key),
         fmt::format("'{}'", printable(entry.value)), kExportAgain);
  }
  return value;
}

// True if following the components one by one never climbs above the start.
bool stays_inside(const fs::path& relative) {
  int depth = 0;
  for (const fs::path& component : relative) {
    if (component == "..") {
      if (--depth < 0) return false;
    } else if (component != "." && !component.empty()) {
      ++depth;
    }
  }
  return true;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  auto [in_folder, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end() && rest != path.end();
}

}  // namespace

OnnxExternalData parse_external_data(const OnnxTensor& tensor, std::string_view file) {
  OnnxExternalData out;
  std::map<std::string_view, std::string_view> seen;
  for (const OnnxProperty& entry : tensor.external_data) {
    if (!seen.emplace(entry.key, entry.value).second) {
      fail(tensor, file, ErrorCode::corrupt, "each key of external_data once",
           fmt::format("'{}' twice", printable(entry.key)), kExportAgain);
    }
    if (entry.key == "location") out.location = entry.value;
    if (entry.key == "offset") out.offset = parse_number(tensor, entry, file);
    if (entry.key == "length") out.length = parse_number(tensor, entry, file);
    if (entry.key == "checksum") out.checksum = entry.value;
  }
  if (out.location.empty()) fail(tensor, file, ErrorCode::corrupt, "a 'location'", "none", kExportAgain);
  return out;
}

OnnxExternalFiles::OnnxExternalFiles(const std::string& folder) {
  std::error_code error;
  folder_ = fs::canonical(folder.empty() ? "." : folder, error).string();
  if (error) {
    throw Error({.code = ErrorCode::not_found,
                 .object = "folder of the ONNX model",
                 .name = printable(folder),
                 .expected = "a folder",
                 .observed = error.message(),
                 .remedy = "Check the path."});
  }
}

OnnxExternalFiles::~OnnxExternalFiles() = default;

std::string OnnxExternalFiles::resolve(const OnnxTensor& tensor, std::string_view location,
                                       std::string_view file) const {
  const std::string shown = fmt::format("'{}'", printable(location));
  const std::string inside = fmt::format("a location inside the folder '{}'", printable(folder_));
  const fs::path relative(location);
  if (location.find('\0') != std::string_view::npos)
    fail(tensor, file, ErrorCode::corrupt, "a location without zero bytes", shown, kExportAgain);
  if (relative.is_absolute())
    fail(tensor, file, ErrorCode::corrupt, inside, "the absolute path " + shown, kMoveInside);
  if (!stays_inside(relative)) fail(tensor, file, ErrorCode::corrupt, inside, shown, kMoveInside);

  std::error_code error;
  const fs::path path = fs::canonical(fs::path(folder_) / relative, error);
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
    fail(tensor, file, missing ? ErrorCode::not_found : ErrorCode::device,
         fmt::format("the file {} in '{}'", shown, printable(folder_)), error.message(),
         "Keep the data files of a model next to it when copying it.");
  }
  if (!is_below(path, folder_)) {
    fail(tensor, file, ErrorCode::corrupt, inside,
         fmt::format("{}, which is '{}'", shown, printable(path.string())), kMoveInside);
  }
  if (!fs::is_regular_file(path, error))
    fail(tensor, file, ErrorCode::corrupt, "a regular file", shown + ", which is none", kMoveInside);
  return path.string();
}

OnnxBytes OnnxExternalFiles::read(const OnnxTensor& tensor, uint64_t size, std::string_view file) {
  const OnnxExternalData data = parse_external_data(tensor, file);
  if (data.length.value_or(size) != size) {
    fail(tensor, file, ErrorCode::corrupt, fmt::format("{} bytes for its type and shape", size),
         fmt::format("a length of {}", *data.length), kExportAgain);
  }
  const std::string path = resolve(tensor, data.location, file);
  std::shared_ptr<const MappedFile>& map = maps_[path];
  if (map == nullptr) map = MappedFile::open(path, "ONNX data file");
  if (!range_fits(data.offset, size, map->size())) {
    fail(tensor, file, ErrorCode::corrupt,
         fmt::format("a range inside the {} bytes of '{}'", map->size(), printable(data.location)),
         fmt::format("{} bytes at offset {}", size, data.offset), kExportAgain);
  }
  return {map->bytes().subspan(static_cast<size_t>(data.offset), static_cast<size_t>(size)), map};
}

void OnnxExternalFiles::drop(std::span<const std::byte> bytes) const {
  for (const auto& [path, map] : maps_)
    if (map != nullptr) map->drop(bytes);
}

}  // namespace ingot
