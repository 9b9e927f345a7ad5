#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name is that of CLI11
class App;
}

namespace ingot::cli {

std::string overview_page(std::span<const ManualPage> pages);
std::string manual_page(const ManualPage& page, const CLI::App& app);

}  // namespace ingot::cli
