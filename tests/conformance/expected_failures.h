#pragma once

#include <map>
#include <string>

namespace ingot::conformance {

// tests/conformance/expected_failures.txt: case name -> reason, one "name: reason" a line, '#' for comments.
std::map<std::string, std::string> read_expected_failures();

}  // namespace ingot::conformance
