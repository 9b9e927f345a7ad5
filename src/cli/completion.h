#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the name is that of CLI11
class App;
}

namespace ingot::cli {

// A script for bash that completes the commands of `app`, their options, the values of options that name
// their choices, and file names everywhere else.
std::string bash_completion(const CLI::App& app);

}  // namespace ingot::cli
