#include "bad_case.h"

#include <filesystem>
#include <regex>

#include "support/onnx_model.h"

namespace ingot {
namespace {

std::vector<std::string> list(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

// The sentence, the remedy, the code.
constexpr const char* kThreeLines = "ingot [^\\n]*\\.\\n  [A-Z'][^\\n]*\\.\\n  error code: [a-z_]+\\n";

// The address sanitizer announces each refused allocation in a line of its own.
std::string without_sanitizer_notes(const std::string& text) {
  return std::regex_replace(text, std::regex("==[0-9]+==WARNING[^\\n]*\\n"), "");
}

}  // namespace

void BadCase::expect_failure(const std::vector<std::string>& words, const std::vector<std::string>& parts,
                             const std::function<void()>& in_child) const {
  const std::vector<std::string> before = list(folder_.path());
  std::vector<std::string> command = {INGOT_PROGRAM};
  command.insert(command.end(), words.begin(), words.end());
  ProgramResult r = run_program(command, in_child);
  r.err = without_sanitizer_notes(r.err);
  SCOPED_TRACE(r.err);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.out, "");
  EXPECT_TRUE(r.err.starts_with("ingot " + words.at(0) + ": "));
  for (const std::string& part : parts) EXPECT_NE(r.err.find(part), std::string::npos) << part;
  EXPECT_TRUE(std::regex_match(r.err, std::regex(kThreeLines)));
  EXPECT_EQ(r.err.find("internal"), std::string::npos);
  EXPECT_EQ(list(folder_.path()), before);
}

void BadCase::expect_bad_model(const std::string& bytes, const std::vector<std::string>& parts) const {
  const std::string path = folder_.write("bad.onnx", bytes);
  expect_failure({"compile", path, "-q", "-o", folder_.file("bad.ingot")}, parts);
}

std::string BadCase::engine_bytes() const {
  const std::string model = folder_.write("sound.onnx", onnx_model::small_model());
  const std::string engine = folder_.file("sound.ingot");
  const ProgramResult r = run_program({INGOT_PROGRAM, "compile", model, "-q", "-o", engine});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  return read_file(engine);
}

}  // namespace ingot
