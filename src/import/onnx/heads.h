#pragma once

#include "import/onnx/node_context.h"

// Heads of attention: models hold them side by side in the last axis, the graph in an axis of their own.
namespace ingot {

// [batch, tokens, heads * size] as [batch, heads, tokens, size], and back.
Value split_heads(GraphBuilder& g, Value x, int64_t heads);
Value merge_heads(GraphBuilder& g, Value x);

// An attribute that counts heads, so is at least 1.
int64_t heads_attr(const OnnxNodeContext& c, std::string_view name);

}  // namespace ingot
