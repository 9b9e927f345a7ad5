#include "support/temp_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ingot {

TempFolder::TempFolder() : path_((std::filesystem::temp_directory_path() / "ingot-test-XXXXXX").string()) {
  if (!mkdtemp(path_.data())) ADD_FAILURE() << "cannot create a temporary folder like " << path_;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::file(std::string_view name) const { return path_ + "/" + std::string(name); }

std::string TempFolder::write(std::string_view name, std::string_view content) const {
  std::ofstream out(file(name), std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) ADD_FAILURE() << "cannot write " << file(name);
  return file(name);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) ADD_FAILURE() << "cannot read " << path;
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

}  // namespace ingot
