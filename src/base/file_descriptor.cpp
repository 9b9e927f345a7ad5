#include "base/file_descriptor.h"

#include <sys/stat.h>

#include "ingot/error.h"

namespace ingot {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

}  // namespace

void require_regular(mode_t mode, std::string_view object, std::string_view path) {
  if (S_ISREG(mode)) return;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = std::string(object),
               .name = std::string(path),
               .expected = "a regular file",
               .observed = kind_of(mode),
               .remedy = "Name a regular file."});
}

}  // namespace ingot
