#pragma once

#include "ingot/graph.h"

namespace ingot::cpu {

// An attention node that lower_attention takes: in f32, f16 or bf16, with sizes that fit without broadcasting
// but of the mask, and whose scores nobody reads.
bool takes_attention(const Graph& graph, const Node& node);

}  // namespace ingot::cpu
