#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ingot {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace ingot
