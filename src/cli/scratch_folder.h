#pragma once

#include <string>

namespace ingot::cli {

// A new private folder for temporary files, removed with all it holds.
class ScratchFolder {
 public:
  ScratchFolder();  // throws Error(device)
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace ingot::cli
