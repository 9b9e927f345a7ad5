#pragma once

#include <optional>

#include "device/cpu/view.h"
#include "ingot/graph.h"

namespace ingot::cpu {

// The same elements in row-major order under other sizes of equal count; empty where strides cannot say that.
std::optional<View> reshaped(const View& view, const Shape& shape);

}  // namespace ingot::cpu
