#pragma once

#include "device/cpu/kernel_set.h"
#include "device/cpu/plan.h"
#include "ingot/execution_profile.h"

namespace ingot::cpu {

// Steps in words.
StepInfo describe_step(const Step& step, const KernelSet& kernels);
// A node that runs between plans, by its routine or on the reference device.
StepInfo describe_host_node(const Graph& graph, const Node& node, bool by_routine);
// "f32[1, 8, 4, 4] channels last": what lies in memory otherwise than row by row says how.
std::string describe(const View& view);

}  // namespace ingot::cpu
