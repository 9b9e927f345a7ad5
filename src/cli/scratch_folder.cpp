#include "cli/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/os_error.h"

namespace ingot::cli {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  path_ = ((error ? fs::path("/tmp") : parent) / "ingot-XXXXXX").string();
  if (!mkdtemp(path_.data())) throw_os_error(errno, "temporary folder", path_, "make");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ingot::cli
