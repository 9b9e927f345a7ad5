#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/run_program.h"
#include "support/temp_folder.h"

namespace ingot {

// A folder of bad input, and what the program says of it.
class BadCase : public testing::Test {
 protected:
  // Runs the program, which must return 1, print nothing to standard output, say one sentence with all of
  // `parts`, a remedy and a code, blame the input rather than itself, and leave the folder as it was.
  void expect_failure(const std::vector<std::string>& words, const std::vector<std::string>& parts,
                      const std::function<void()>& in_child = {}) const;
  // `ingot compile` of a model with these bytes.
  void expect_bad_model(const std::string& bytes, const std::vector<std::string>& parts) const;
  // A sound engine.
  std::string engine_bytes() const;

  TempFolder folder_;
};

}  // namespace ingot
