#include "support/test_data.h"

#include <cstdlib>
#include <filesystem>

namespace ingot {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string existing(const std::string& folder, const std::string& relative) {
  if (folder.empty()) return "";
  std::error_code ignored;
  std::string path = folder + "/" + relative;
  return std::filesystem::exists(path, ignored) ? path : "";
}

}  // namespace

std::string find_model(const std::string& relative) {
  std::string folder = environment("INGOT_MODELS");
  if (folder.empty()) {
    std::string cache = environment("XDG_CACHE_HOME");
    folder = (cache.empty() ? environment("HOME") + "/.cache" : cache) + "/ingot/models";
  }
  return existing(folder, relative);
}

std::string find_shared_model(const std::string& relative) {
  std::string folder = environment("INGOT_SHARED_MODELS");
  return existing(folder.empty() ? INGOT_SOURCE_DIR "/../shared/models" : folder, relative);
}

bool data_is_required() { return !environment("CI").empty(); }

}  // namespace ingot
