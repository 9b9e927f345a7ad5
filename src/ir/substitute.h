#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "ingot/type.h"

namespace ingot {

// Replaces the symbols in the sizes of a type for which `binding` has a value.
Type substitute(const Type& type, const std::function<std::optional<Dim>(std::string_view name)>& binding);

}  // namespace ingot
