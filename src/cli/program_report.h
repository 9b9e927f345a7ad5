#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ingot/runtime.h"

namespace ingot::cli {

// A program as `ingot inspect --program` shows it.
struct ProgramReport {
  std::string name;  // of the engine
  std::string device;
  EngineStats stats;
  MachineSpeed speed;
  ExecutionProfile profile;  // of some inferences
};

// How long a step takes at least on a machine that computes at its full speed while it reads and writes all
// operands at the speed of memory. Steps whose operands lie in a cache may be faster.
double predicted_seconds(const StepInfo& step, const MachineSpeed& speed);

std::string program_text(const ProgramReport& report);
nlohmann::ordered_json program_json(const ProgramReport& report);

// The loops, LLVM IR and assembly of the kernels of the steps called `name`, of those whose name contains it,
// or of the kernel whose key begins so. Throws not_found, naming some steps that have kernels.
std::string kernel_listings(const Engine& engine, const ExecutionProfile& profile, const std::string& name);

}  // namespace ingot::cli
