#pragma once

#include <functional>
#include <optional>

#include "ingot/type.h"

namespace ingot {

// The narrowest type that holds values of both: unknown rank where ranks differ, an optional where one is
// optional, and for each pair of sizes that differ what `join` gives. Empty where kinds or dtypes conflict.
std::optional<Type> common_type(const Type& a, const Type& b,
                                const std::function<Dim(const Dim& a, const Dim& b)>& join);

}  // namespace ingot
