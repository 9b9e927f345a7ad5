#include "tests/conformance/expected_failures.h"

#include <fstream>
#include <stdexcept>

namespace ingot::conformance {

std::map<std::string, std::string> read_expected_failures() {
  std::map<std::string, std::string> reasons;
  std::ifstream file(INGOT_TEST_DIR "/expected_failures.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    auto colon = line.find(": ");
    if (colon == std::string::npos) throw std::runtime_error("expected_failures.txt: no reason in: " + line);
    reasons[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return reasons;
}

}  // namespace ingot::conformance
