#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ingot/tensor.h"

namespace ingot {

// Sizes a dimension may have (both ends included) and the one to be fast for.
struct DimRange {
  int64_t min = 0;
  int64_t opt = 0;
  int64_t max = 0;

  friend bool operator==(const DimRange&, const DimRange&) = default;
};

// The same for all dimensions of one input; three shapes of one rank.
struct ShapeRange {
  Shape min;
  Shape opt;
  Shape max;

  friend bool operator==(const ShapeRange&, const ShapeRange&) = default;
};

// Shapes that an engine promises to take. Dimensions that a profile does not mention keep the range that the
// graph gives them.
struct Profile {
  std::string name;
  std::map<std::string, ShapeRange> inputs;  // by the name of the input; fixed dimensions are repeated
  std::map<std::string, DimRange> dims;      // by the name of a dimension, for all inputs that have it

  friend bool operator==(const Profile&, const Profile&) = default;
};

}  // namespace ingot
