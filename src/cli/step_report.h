#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ingot/step_stats.h"

namespace ingot::cli {

// In the order in which they run: what each step is.
std::string steps_text(const std::vector<StepStats>& steps);
// A table of the time of one run, the slowest steps first, with shares of the sum and rates.
std::string profile_text(const std::vector<StepStats>& steps);
// In the order in which they run; times of one run in seconds.
nlohmann::ordered_json profile_json(const std::vector<StepStats>& steps);

}  // namespace ingot::cli
