#pragma once

#include <string>
#include <string_view>

namespace ingot {

// A new empty folder for one test, removed with everything in it at the end of the scope.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const;  // the path of `name` in the folder
  std::string write(std::string_view name,
                    std::string_view content) const;  // creates a file, returns its path

 private:
  std::string path_;
};

// The content of a file; the test fails when it cannot be read.
std::string read_file(const std::string& path);

}  // namespace ingot
