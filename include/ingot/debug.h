#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "ingot/dtype.h"
#include "ingot/tensor.h"

namespace ingot {

// A value inside a network, as one inference computed it. Valid during the call that shows it.
struct DebugTensor {
  const std::string& name;
  DType dtype;
  const Shape& shape;
  const void* memory;  // row by row
  size_t bytes;
};

// Called on the thread that runs the inference, before that ends, once for each debug tensor. What it throws
// is the error of the inference.
using DebugListener = std::function<void(const DebugTensor&)>;

}  // namespace ingot
