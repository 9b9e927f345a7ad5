#pragma once

#include "device/device.h"

namespace ingot {

// Gives the outputs of a run that has ended: copies them to the memory of the caller, or hands them over. By
// output of the graph; null: given already. Outputs that lie in the memory of inputs come last, since others
// may be views of those inputs.
void give_outputs(const Graph& graph, std::span<const Datum> inputs, std::span<const Datum* const> outputs,
                  OutputSink& sink);

}  // namespace ingot
