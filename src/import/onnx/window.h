#pragma once

#include "import/onnx/node_context.h"

namespace ingot {

// The attributes that Conv, ConvInteger and QLinearConv share.
ConvAttrs conv_attributes(const OnnxNodeContext& c);

// Those of AveragePool and QLinearAveragePool.
AveragePoolAttrs average_pool_attributes(const OnnxNodeContext& c);

}  // namespace ingot
