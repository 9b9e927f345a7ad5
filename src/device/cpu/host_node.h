#pragma once

#include <optional>

#include "base/thread_pool.h"
#include "device/cpu/arena.h"
#include "ingot/graph.h"

namespace ingot::cpu {

// Runs a node outside of plans, on whole tensors, by its routine. Empty where it has none for these operands.
std::optional<std::vector<Datum>> run_routine(const Node& node, std::span<const Datum> operands,
                                              ThreadPool& pool, Arena& scratch);

}  // namespace ingot::cpu
