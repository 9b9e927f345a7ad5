#pragma once

#include <random>

#include "ingot/tensor.h"
#include "ingot/type.h"

namespace ingot {

// Elements that depend on the generator's state alone, the same on every machine: real numbers uniform in
// [-1, 1), integers from 0 to 9 (or to the largest of their type), booleans, and texts "0" to "9".
Tensor random_tensor(DType dtype, Shape shape, std::mt19937_64& generator);

}  // namespace ingot
