#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ingot/execution_profile.h"

namespace ingot::cli {

// What steps of an engine took: a table, the slowest first, and sums by kind.
std::string profile_text(const ExecutionProfile& profile);
// What each step is, in the order in which they first ran.
std::string steps_text(const ExecutionProfile& profile);
// The table for programs, in the order of the steps.
nlohmann::ordered_json profile_json(const ExecutionProfile& profile);
// Steps alone, without times.
nlohmann::ordered_json step_json(const StepInfo& step);

// In the trace event format that Perfetto and Chrome show: one lane per thread, `name` on top.
nlohmann::ordered_json trace_json(const ExecutionProfile& profile, const std::string& name);
// Writes it into a file.
void write_trace(const ExecutionProfile& profile, const std::string& name, const std::string& path);

}  // namespace ingot::cli
