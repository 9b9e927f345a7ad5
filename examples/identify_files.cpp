// Tells what kind of file each path on the command line is: an application that embeds Ingot.
//
//   identify_files ENGINE MODEL-FOLDER FILE...
//
// ENGINE is made with `ingot compile MODEL-FOLDER/model.onnx -o ENGINE`.
#include <ingot/error.h>
#include <ingot/runtime.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "file_identifier.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The model looks at both ends only, but the rules for small files want all of them.
bool read_file(const char* path, std::string& content) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  content.assign(std::istreambuf_iterator<char>(file), {});
  return !file.bad();
}

int identify_all(const char* engine_path, const char* folder, char** paths, int count) {
  auto start = Clock::now();
  ingot::StderrLogger logger;
  const ingot::Runtime runtime(logger);
  FileIdentifier identifier(runtime.open(engine_path), folder);
  double open = milliseconds_since(start), first = 0, total = 0;

  std::printf("%-48s %-12s %s\n", "file", "kind", "probability");
  int unreadable = 0, answered = 0;
  for (int i = 0; i < count; ++i) {
    std::string content;
    if (!read_file(paths[i], content)) {
      std::fprintf(stderr, "identify_files: cannot read '%s'\n", paths[i]);
      ++unreadable;
      continue;
    }
    start = Clock::now();
    FileIdentifier::Answer answer = identifier.identify(content);
    double time = milliseconds_since(start);
    (answered++ == 0 ? first : total) += time;
    std::printf("%-48s %-12s %.3f\n", paths[i], answer.kind.c_str(), answer.probability);
  }
  std::printf("opened in %.1f ms, first answer after %.1f ms", open, first);
  if (answered > 1) std::printf(", then %.1f ms a file", total / (answered - 1));
  std::printf("\n");
  return unreadable == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: identify_files ENGINE MODEL-FOLDER FILE...\n");
    return 2;
  }
  try {
    return identify_all(argv[1], argv[2], argv + 3, argc - 3);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "identify_files: %s\n", e.what());
    return 1;
  }
}
