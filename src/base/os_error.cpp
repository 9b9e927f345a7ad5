#include "base/os_error.h"

#include <cerrno>
#include <cstring>

#include "ingot/error.h"

namespace ingot {
namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT: return ErrorCode::not_found;
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG: return ErrorCode::invalid_argument;
    case ENOMEM: return ErrorCode::out_of_memory;
    default: return ErrorCode::device;
  }
}

const char* remedy_of(int error_number) {
  switch (error_number) {
    case ENOENT: return "Check the path.";
    case ENOTDIR: return "A part of the path is not a folder; check the path.";
    case EISDIR: return "Name a file, not a folder.";
    case ELOOP: return "The symbolic links of the path form a circle; check the path.";
    case ENAMETOOLONG: return "Choose a shorter name.";
    case ENOMEM: return "Free memory or raise the limit of the process.";
    case EACCES:
    case EPERM: return "Check the permissions of the file and its folder.";
    case EROFS: return "The file system is read-only; choose another folder.";
    case ENOSPC: return "Free space on the disk or choose another folder.";
    case EDQUOT: return "Free space within the disk quota or choose another folder.";
    case EFBIG: return "Raise the file size limit of the process ('ulimit -f') or of the file system.";
    case EMFILE: return "Raise the limit of open files ('ulimit -n').";
    default: return "";
  }
}

}  // namespace

void throw_os_error(int error_number, std::string_view object, std::string_view path,
                    std::string_view action) {
  const char* description = strerrordesc_np(error_number);  // unlike strerror: thread-safe, not translated
  throw Error({.code = code_of(error_number),
               .object = std::string(object),
               .name = std::string(path),
               .observed = fmt::format("cannot {}: {}", action, description ? description : "unknown error"),
               .remedy = remedy_of(error_number)});
}

}  // namespace ingot
