#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/docs/pages.h"

// ingot_docs --write DIR | --check DIR
namespace {

struct Page {
  const char* name;
  std::string (*make)();
};

constexpr Page kPages[] = {{"ops.md", ingot::docs::ops_page}, {"onnx_coverage.md", ingot::docs::onnx_page}};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return static_cast<bool>(file.flush());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[1] : "";
  if (mode != "--write" && mode != "--check") {
    std::fprintf(stderr, "usage: ingot_docs --write DIR | --check DIR\n");
    return 2;
  }
  int stale = 0;
  for (const Page& page : kPages) {
    const std::string path = std::string(argv[2]) + "/" + page.name, text = page.make();
    bool good = mode == "--write" ? write(path, text) : read(path) == text;
    if (!good)
      std::fprintf(stderr, "ingot_docs: %s is %s\n", path.c_str(),
                   mode == "--write" ? "not writable" : "out of date; run tools/make_docs");
    stale += !good;
  }
  return stale == 0 ? 0 : 1;
}
